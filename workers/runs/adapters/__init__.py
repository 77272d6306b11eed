"""The adapters of a run: named, published to the engine, compared with the trainer, removed."""

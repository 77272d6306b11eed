"""The engine behind its HTTP contract, adapters, and judge models."""

"""LoRA adapters on a frozen base model: their layers, files, gradients and scores."""

"""A CPU engine with vLLM's HTTP protocol: continuous batching over a transformers model."""

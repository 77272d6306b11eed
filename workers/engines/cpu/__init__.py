"""A CPU engine that speaks vLLM's HTTP protocol: continuous batching over a transformers model."""

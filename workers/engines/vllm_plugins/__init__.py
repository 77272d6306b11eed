"""vLLM imports these from an environment of its own, which lacks most of our libraries."""

"""The HTTP endpoints of the CPU engine in the shape of vLLM."""

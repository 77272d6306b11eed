"""vLLM imports these: only the standard library, vLLM and `app.rendering` are on its path."""

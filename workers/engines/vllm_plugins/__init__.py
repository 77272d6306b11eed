"""What is imported inside vLLM's process, from vLLM's own environment: standard library and vLLM
only. The directory itself is put on that process's path, so that nothing else of ours is.
"""

"""Plugins imported inside vLLM's process, from vLLM's own environment: standard library and vLLM
only. This directory itself is on that process's path, so that nothing else of this project is.
"""

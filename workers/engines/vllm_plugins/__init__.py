"""Plugins that vLLM's process imports. They may use the standard library and vLLM only: this
directory, but nothing else of this project, is on the import path of that process.
"""

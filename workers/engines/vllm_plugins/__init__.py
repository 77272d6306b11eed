"""Plugins that vLLM's process imports. They may use the standard library, vLLM and `app.rendering`,
which `agent_rft_turns` makes importable there; this directory, but nothing else of this project, is
on the import path of that process.
"""

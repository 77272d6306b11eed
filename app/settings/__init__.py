"""Configuration: one frozen tree per process, and the only reader of its variables.

Owns: the variable names (prefix ``AGENT_RFT_``, ``__`` between levels), the optional TOML file
named by ``AGENT_RFT_CONFIG``, the defaults, and the encoding of a tree for a child process.
Promises: ``load_settings()`` either returns a complete tree or raises an error that names every
invalid variable. Must not know: the use of any value beyond its unit and range.
"""

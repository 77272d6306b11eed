"""Schema changes. A contract in `pyproject.toml` lists what they may import."""

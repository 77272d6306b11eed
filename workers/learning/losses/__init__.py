"""Loss functions, one per file; `build.py` makes one by its name."""

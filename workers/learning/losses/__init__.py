"""Loss functions, one per file; `registry.py` maps names to them."""

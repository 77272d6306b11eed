"""Shipped base models and the deterministic scripts that make them."""

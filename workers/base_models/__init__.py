"""Shipped base models and the deterministic scripts that build them."""

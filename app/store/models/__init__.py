"""Rows of tuned models and of permissions on them."""

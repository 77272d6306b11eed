"""Texts that others wrote: JSON, Python, names, and characters that cannot be stored."""

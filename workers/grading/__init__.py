"""Graders, one file per kind, and their registry."""

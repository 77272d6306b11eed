"""Backups of a single-machine installation: taken while it runs, restored into a new directory."""

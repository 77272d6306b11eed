"""Findings about a job in plain words."""

"""Registered curricula: their files, checks and scenarios."""

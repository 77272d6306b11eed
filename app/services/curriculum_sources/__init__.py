"""Curricula from sources: their files are found, read, divided and registered."""

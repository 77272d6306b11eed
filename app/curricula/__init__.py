"""Curricula: sources, the rows made of them, and registered ones."""

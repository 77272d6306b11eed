"""Recipes: the starting points of improvement plans."""

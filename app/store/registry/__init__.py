"""Rows of registered objects and their versions."""

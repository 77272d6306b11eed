"""Uploaded files and their rows, one module per row format."""

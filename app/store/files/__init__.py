"""Rows of files and uploads."""

"""Losses: one small file each, one line in the registry each."""

"""Writes to trackers with the library of each."""

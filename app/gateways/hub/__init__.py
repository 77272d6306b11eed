"""Data sets of a hub, or of a directory with the same form, behind the guard of outgoing calls."""

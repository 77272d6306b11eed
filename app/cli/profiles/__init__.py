"""Profiles: named services with their keys, in a file of the user's."""

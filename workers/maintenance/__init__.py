"""Removal of expired rows and leftover objects, which belongs to no run."""

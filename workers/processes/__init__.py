"""Processes of the GPU plane, the same for every kind of leased work."""

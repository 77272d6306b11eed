"""Clients of external systems: protocols with a production and an in-memory implementation."""

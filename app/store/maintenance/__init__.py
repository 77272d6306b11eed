"""Queries across tenants that find and remove expired rows."""

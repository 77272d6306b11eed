"""Queries across tenants that find what has expired."""

"""Migrations in the order of their numbers. A package, so that the import contracts see them."""

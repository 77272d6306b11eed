"""Stores: the only room that contains SQL. Each store is built for one tenant."""

"""Secrets of customers: the rules that find them, and their sealed and shown forms."""

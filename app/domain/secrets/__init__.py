"""Secrets of customers: field types that mark them, and the walks that find and seal them."""

"""Rows of webhook endpoints, events and deliveries."""

"""Webhook endpoints, their events and deliveries."""

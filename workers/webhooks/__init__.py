"""Webhooks: due deliveries claimed under a lease, sent, and noted with the next attempt's time."""

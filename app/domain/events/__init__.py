"""Webhook events and idempotent requests."""

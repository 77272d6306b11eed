"""The log of committed events, webhook events and idempotent requests."""

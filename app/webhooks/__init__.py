"""The log of committed events, and webhook events."""

"""Webhooks: claims due deliveries, sends them, and writes each outcome."""

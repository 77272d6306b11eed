"""ASGI middleware: request context, body guards, idempotency, protocol faults."""

"""Use cases, one folder per noun. Knows stores and gateways, not HTTP, SQL or Celery."""

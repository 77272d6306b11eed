"""Use cases, one file per noun. Knows stores and gateways, not HTTP, SQL or Celery."""

"""Agent episodes as plain async Python. Never imports torch, SQL or Celery."""

"""Rollouts and groups of rollouts as async Python. Never imports torch, SQL or Celery."""

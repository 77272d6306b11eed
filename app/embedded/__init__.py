"""Supervisor of the single-machine default: Postgres, Valkey, engine, workers, API."""

"""Guarded egress: address checks, the client of the rollout burst, headers."""

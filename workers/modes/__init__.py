"""Schedulers over the same rollout and learning rooms, one file per mode."""

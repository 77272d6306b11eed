"""Environments and tools of rollouts, one file per kind of transport."""

"""Environments and tools of rollouts, one way to reach them per file."""

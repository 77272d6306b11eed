"""Shared words of both planes: pure values and rules. Imports nothing of ours and does no I/O."""

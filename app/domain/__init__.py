"""Shared words of both planes: pure values and rules. Imports no other room and does no I/O."""

"""Shared vocabulary of both planes: pure values and rules. Imports no other room, does no I/O."""

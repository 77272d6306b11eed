"""Slots of one process: limits on the concurrent work of projects and organizations."""

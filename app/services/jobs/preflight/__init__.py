"""Checks a create call before a job exists, and reports every fault at once."""

"""Rollouts and their traces, as rows."""

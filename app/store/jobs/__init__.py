"""Rows of jobs and of everything a run writes."""

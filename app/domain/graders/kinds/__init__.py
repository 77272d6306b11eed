"""Grader configurations, one file for each type."""

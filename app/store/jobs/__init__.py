"""Rows of jobs, and rows that runs write."""

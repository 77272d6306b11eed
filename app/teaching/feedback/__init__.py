"""Feedback about answers: its forms, what contradicts what, and the rows that a job learns from."""

"""Rows of feedback and of the builds that made files from it."""

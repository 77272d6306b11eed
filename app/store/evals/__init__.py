"""Rows of evals, their runs and output items."""

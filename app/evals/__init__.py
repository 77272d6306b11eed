"""Evals, their runs and data sources, and a job's validations shown as eval runs."""

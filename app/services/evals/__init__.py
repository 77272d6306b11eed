"""Use cases of evals and their runs."""

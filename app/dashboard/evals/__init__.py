"""Pages of evals, of their runs with the output items, and of the baseline of a run."""

"""`agent-rft evals`: evals and their runs of a running service."""

"""Runs of users' evals: claimed under a lease, each item sampled, scored and written once."""

"""Deterministic scripts that train the shipped models (their weights: `workers/base_models`)."""

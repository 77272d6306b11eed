"""Exports of models: merges an adapter into its base model and stores the result."""

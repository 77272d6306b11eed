"""Improvement plans: knobs in plain words, and the hyperparameters that they stand for."""

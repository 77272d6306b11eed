"""Eval runs: samples, scores and writes each item of a run once, under the run's lease."""

"""Grading of finished rollouts: per-sample graders, group judges, and their journalled scores."""

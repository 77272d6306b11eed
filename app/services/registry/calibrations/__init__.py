"""Calibrations of registered graders, and the samples they read."""

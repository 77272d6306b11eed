"""Trajectories, stored rollouts, their spans, and the names of all curves."""

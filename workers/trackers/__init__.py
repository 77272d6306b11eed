"""Trackers of experiments: writes the curves of jobs with the trackers' own libraries."""

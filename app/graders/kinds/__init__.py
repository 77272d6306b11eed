"""Scorers, one file for each type of grader, named as its configuration."""

"""Checks of a job before it exists: its rows, its prompts, its cost. Runs offline too."""

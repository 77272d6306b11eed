"""Checks a job before its creation: rows, prompts, tools, cost. Also works offline."""

"""The steps of a run: outcome, commit and announcement of each, and the rules that stop."""

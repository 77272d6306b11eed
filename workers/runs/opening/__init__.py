"""The beginning of a run: its start model, its machine, and the step at which it continues."""

"""A create call before it is a job: its values, the needs of its rows, the report on it."""

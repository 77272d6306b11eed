"""The metrics of the workers' work, the process that serves them, their spans."""

"""The rules that end a job early, with their detectors."""

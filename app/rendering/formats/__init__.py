"""The texts in which model families write tool calls and reasoning, one file per format."""

"""A step of a reinforcement run: its outcome, its curves and the event about it."""

"""Templates of graders, their faults, and texts that are none."""

"""Templates of graders, their faults, and texts that are not templates."""

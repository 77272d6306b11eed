"""The reinforcement method: assembly, loop, evaluation."""

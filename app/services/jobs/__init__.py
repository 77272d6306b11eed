"""Use cases of fine-tuning jobs and of their events, curves, rollouts and checkpoints."""

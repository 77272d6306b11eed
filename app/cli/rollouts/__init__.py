"""`agent-rft rollouts`: rollouts of a job of a running service."""

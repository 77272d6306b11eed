"""`agent-rft jobs`: jobs of a running service."""

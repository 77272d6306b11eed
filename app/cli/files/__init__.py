"""`agent-rft files`: files of a running service."""

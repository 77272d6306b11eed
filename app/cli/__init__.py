"""The `agent-rft` command: verbs for people at a terminal."""

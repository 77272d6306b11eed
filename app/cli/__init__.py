"""The `agent-rft` command line: its commands and their output."""

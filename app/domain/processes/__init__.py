"""Processes of an installation: their exit codes and the health of its parts."""

"""Child processes of the supervisor: start, probes, logs, restart, and those left over."""

"""The fork server of child processes: its requests, the server, and the forked child."""

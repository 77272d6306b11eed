"""Parts of the commands that call a running service: its address, calls, replies and failures."""

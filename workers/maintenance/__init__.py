"""House-keeping that belongs to no run: expired rows and leftover objects."""

"""The outside world: one protocol, one real and one in-memory implementation per file."""

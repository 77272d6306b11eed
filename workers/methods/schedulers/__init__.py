"""The three modes: sync, streaming, async."""

"""Use cases of files and multi-part uploads."""

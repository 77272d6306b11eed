"""Pages of a project's files: the list, and one file with its first rows and its statistics."""

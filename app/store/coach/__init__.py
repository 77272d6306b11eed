"""Sessions of the Coach and their logbooks as rows."""

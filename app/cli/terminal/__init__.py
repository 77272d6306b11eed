"""Output of commands for a terminal or a pipe: results, tables, curves, safe texts."""

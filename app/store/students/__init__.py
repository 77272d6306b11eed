"""Students and their skills as rows."""

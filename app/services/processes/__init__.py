"""The processes of an installation: their health, and what their metrics show of jobs."""

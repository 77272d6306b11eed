"""The processes of an installation: their health, and the figures of monitoring."""

"""Schema changes. Imports only the schema and the settings."""

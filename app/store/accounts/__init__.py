"""Rows of organizations, projects, service accounts and keys."""

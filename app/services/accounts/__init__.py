"""Use cases of organizations, projects, service accounts and keys."""

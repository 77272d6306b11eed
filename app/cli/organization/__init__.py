"""Usage and audit log of an organization, by an admin key."""

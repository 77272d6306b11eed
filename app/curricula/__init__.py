"""Registered objects (tools, graders, curricula) that jobs refer to by id."""

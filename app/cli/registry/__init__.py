"""`agent-rft tools`, `graders`, `curricula` and `environments`: a project's registered objects."""

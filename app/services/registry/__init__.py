"""Use cases of registered tools, graders and curricula, and trials of them."""

"""Use cases of registered tools, graders, curricula and environments, and trials of them."""

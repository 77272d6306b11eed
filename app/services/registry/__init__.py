"""Use cases of a project's registered objects of every noun, and trials of them."""

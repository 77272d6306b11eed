"""Pages of registered objects: tools, graders and environments with their tests."""

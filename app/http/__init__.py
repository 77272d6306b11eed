"""What every request passes before and after the route of its noun."""

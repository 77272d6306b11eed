"""Every request passes these modules before and after the route of its noun."""

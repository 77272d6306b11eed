"""`agent-rft keys`: keys and sign-in links of an installation, and its secret key."""

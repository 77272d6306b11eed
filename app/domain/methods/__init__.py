"""The training methods and every option that a create call may set for them."""

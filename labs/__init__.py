"""What makes the shipped models and is not shipped with them."""

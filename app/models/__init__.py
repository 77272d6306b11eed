"""Base models, tuned models, and permissions to call them."""

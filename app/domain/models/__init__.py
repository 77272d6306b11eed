"""Base models, tuned models and who may call them."""

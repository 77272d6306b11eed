"""Base models and adapters as runnable weights, with the attention of packed steps."""

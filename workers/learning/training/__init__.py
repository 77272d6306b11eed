"""The in-process trainer: the model with its adapter, the updates and the saved state."""

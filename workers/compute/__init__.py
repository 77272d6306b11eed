"""The processor and the thread on which a process computes with tensors."""

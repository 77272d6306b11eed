"""The mathematics of training: advantages, batches, gradients, adapters."""

"""The forward pass of a base model over packed rows, from tokens to log-probs."""

"""The sampled tokens of a rollout, coloured by their log-prob or ratio."""

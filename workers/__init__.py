"""GPU plane: claims jobs, samples rollouts, trains adapters and publishes them."""

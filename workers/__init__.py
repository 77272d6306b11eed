"""GPU plane: claims jobs, samples rollouts, trains and publishes adapters."""

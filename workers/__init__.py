"""GPU plane: claims jobs, samples rollouts, calls tools and graders, trains and publishes adapters."""

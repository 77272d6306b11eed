"""Customer endpoints: retries, rate and concurrency limits, circuit breaker, signed calls."""

"""Customer endpoints: retries, pace, circuit breaker, signed calls."""

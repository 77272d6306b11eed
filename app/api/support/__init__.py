"""Parts that routes share: dependencies, errors, rate limits, specification, pages."""

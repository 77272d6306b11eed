"""Use cases of models: listing, permissions, chat completions, judges."""

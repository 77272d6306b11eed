"""Pages of models: the list, and the playground, which asks two models and runs their calls."""

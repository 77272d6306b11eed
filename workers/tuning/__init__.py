"""Training on given text: supervised and preference jobs."""

"""Control plane: HTTP API, rules, rows and the outside world. Imports no torch and nothing of `workers`."""

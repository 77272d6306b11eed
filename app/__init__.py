"""Control plane: HTTP API, rules, rows, the outside world. Imports no torch and no `workers`."""

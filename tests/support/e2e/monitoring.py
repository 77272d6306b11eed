"""The key with which Prometheus reads the figures of the end-to-end tests' installation."""

KEY = "prometheus-reads-with-this"

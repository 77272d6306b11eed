"""The key with which Prometheus reads the metrics of the end-to-end tests' installation."""

KEY = "prometheus-reads-with-this"

"""Telemetry of the workers: the metrics of their work, the process that serves them, their
spans.
"""

"""Telemetry: what a process measures of its own work, for Prometheus and OpenTelemetry.

Owns the spans of a job and their ids, and the counts of calls to endpoints. Promises: ids are
functions of a call's position, so that a customer's `traceparent` names a span that is exported;
no text of a customer or a model is in a span or a label; without a sink nothing is recorded. Must
not know settings, routes or rows.
"""

"""Telemetry of the workers: the metrics of their work, the process that serves them, their
spans.

Owns the names of the workers' metrics and the spans of jobs, steps, rollouts and turns. Promises:
metrics of a killed process that describe its present state vanish, its counts stay; no work waits
for telemetry. Must not know how the work is done.
"""

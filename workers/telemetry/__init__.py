"""Telemetry of the workers: the figures of their work, the process that shows them, their spans.

Owns the names of the workers' figures and the spans of jobs, steps, rollouts and turns. Promises:
figures of a killed process that describe its present state vanish, its counts stay; no work waits
for telemetry. Must not know how the work is done.
"""

"""The calibration of a grader: probes, statistics, and the report of them."""

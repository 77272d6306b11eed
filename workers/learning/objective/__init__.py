"""The objective of a step: rewards become advantages, and a micro-batch a gradient."""

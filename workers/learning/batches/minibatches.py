"""Divides the samples of a step into the minibatches of its optimizer steps. Pure."""


def minibatches(samples: int, *, count: int, rows_per_example: int) -> list[list[int]]:
    """Returns the indices of the samples of each minibatch: every `count`-th example, whole."""
    rows = rows_per_example
    examples = [range(start, start + rows) for start in range(0, samples, rows)]
    return [
        [index for example in examples[part::count] for index in example] for part in range(count)
    ]

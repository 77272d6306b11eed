"""The rows of a training step: a pure function of (seed, step), so a resume needs no cursor."""

import random


def rows_of_step(step: int, *, seed: int, row_count: int, batch_size: int) -> list[int]:
    """Returns the row numbers of step 1, 2, …: every epoch has every row once, in its own order.

    The last batch of an epoch may be shorter.
    """
    steps_per_epoch = -(-row_count // batch_size)
    epoch, position = divmod(step - 1, steps_per_epoch)
    order = list(range(row_count))
    random.Random(f"epoch/{seed}/{epoch}").shuffle(order)
    return order[position * batch_size : (position + 1) * batch_size]

"""The choice of `auto`: the facts of the rows, and the grader that fits them."""

from typing import Literal

RolloutSplit = Literal['report', 'test', 'train', 'valid', 'valid_base', 'valid_greedy']

ROLLOUT_SPLIT_VALUES: set[RolloutSplit] = { 'report', 'test', 'train', 'valid', 'valid_base', 'valid_greedy',  }

def check_rollout_split(value: str) -> RolloutSplit:
    if value in ROLLOUT_SPLIT_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {ROLLOUT_SPLIT_VALUES!r}")

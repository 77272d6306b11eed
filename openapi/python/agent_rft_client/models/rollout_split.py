from typing import Literal

RolloutSplit = Literal['test', 'train', 'valid']

ROLLOUT_SPLIT_VALUES: set[RolloutSplit] = { 'test', 'train', 'valid',  }

def check_rollout_split(value: str) -> RolloutSplit:
    if value in ROLLOUT_SPLIT_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {ROLLOUT_SPLIT_VALUES!r}")

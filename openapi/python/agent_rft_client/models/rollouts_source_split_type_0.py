from typing import Literal

RolloutsSourceSplitType0 = Literal['report', 'test', 'train', 'valid', 'valid_base', 'valid_greedy']

ROLLOUTS_SOURCE_SPLIT_TYPE_0_VALUES: set[RolloutsSourceSplitType0] = { 'report', 'test', 'train', 'valid', 'valid_base', 'valid_greedy',  }

def check_rollouts_source_split_type_0(value: str) -> RolloutsSourceSplitType0:
    if value in ROLLOUTS_SOURCE_SPLIT_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {ROLLOUTS_SOURCE_SPLIT_TYPE_0_VALUES!r}")

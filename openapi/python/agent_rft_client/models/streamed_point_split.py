from typing import Literal

StreamedPointSplit = Literal['report', 'test', 'train', 'valid', 'valid_base', 'valid_greedy']

STREAMED_POINT_SPLIT_VALUES: set[StreamedPointSplit] = { 'report', 'test', 'train', 'valid', 'valid_base', 'valid_greedy',  }

def check_streamed_point_split(value: str) -> StreamedPointSplit:
    if value in STREAMED_POINT_SPLIT_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {STREAMED_POINT_SPLIT_VALUES!r}")

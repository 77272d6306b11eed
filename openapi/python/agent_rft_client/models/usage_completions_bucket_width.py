from typing import Literal

UsageCompletionsBucketWidth = Literal['1d', '1h', '1m']

USAGE_COMPLETIONS_BUCKET_WIDTH_VALUES: set[UsageCompletionsBucketWidth] = { '1d', '1h', '1m',  }

def check_usage_completions_bucket_width(value: str) -> UsageCompletionsBucketWidth:
    if value in USAGE_COMPLETIONS_BUCKET_WIDTH_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {USAGE_COMPLETIONS_BUCKET_WIDTH_VALUES!r}")

from typing import Literal

UsageFineTuningBucketWidth = Literal['1d', '1h', '1m']

USAGE_FINE_TUNING_BUCKET_WIDTH_VALUES: set[UsageFineTuningBucketWidth] = { '1d', '1h', '1m',  }

def check_usage_fine_tuning_bucket_width(value: str) -> UsageFineTuningBucketWidth:
    if value in USAGE_FINE_TUNING_BUCKET_WIDTH_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {USAGE_FINE_TUNING_BUCKET_WIDTH_VALUES!r}")

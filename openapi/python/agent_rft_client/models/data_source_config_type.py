from typing import Literal

DataSourceConfigType = Literal['custom', 'logs', 'stored_completions']

DATA_SOURCE_CONFIG_TYPE_VALUES: set[DataSourceConfigType] = { 'custom', 'logs', 'stored_completions',  }

def check_data_source_config_type(value: str) -> DataSourceConfigType:
    if value in DATA_SOURCE_CONFIG_TYPE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {DATA_SOURCE_CONFIG_TYPE_VALUES!r}")

from typing import Literal

FileSourceDelimiterType0 = Literal['\t', ',', ':', ';', '|']

FILE_SOURCE_DELIMITER_TYPE_0_VALUES: set[FileSourceDelimiterType0] = { '\t', ',', ':', ';', '|',  }

def check_file_source_delimiter_type_0(value: str) -> FileSourceDelimiterType0:
    if value in FILE_SOURCE_DELIMITER_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {FILE_SOURCE_DELIMITER_TYPE_0_VALUES!r}")

from typing import Literal

CreateFileBodyExpiresAfteranchor = Literal['created_at']

CREATE_FILE_BODY_EXPIRES_AFTERANCHOR_VALUES: set[CreateFileBodyExpiresAfteranchor] = { 'created_at',  }

def check_create_file_body_expires_afteranchor(value: str) -> CreateFileBodyExpiresAfteranchor:
    if value in CREATE_FILE_BODY_EXPIRES_AFTERANCHOR_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {CREATE_FILE_BODY_EXPIRES_AFTERANCHOR_VALUES!r}")

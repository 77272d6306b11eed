from typing import Literal

CreateFileBodyPurpose = Literal['assistants', 'batch', 'evals', 'fine-tune', 'user_data', 'vision']

CREATE_FILE_BODY_PURPOSE_VALUES: set[CreateFileBodyPurpose] = { 'assistants', 'batch', 'evals', 'fine-tune', 'user_data', 'vision',  }

def check_create_file_body_purpose(value: str) -> CreateFileBodyPurpose:
    if value in CREATE_FILE_BODY_PURPOSE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {CREATE_FILE_BODY_PURPOSE_VALUES!r}")

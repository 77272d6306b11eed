from typing import Literal

ExportStatus = Literal['canceled', 'completed', 'failed', 'in_progress', 'queued']

EXPORT_STATUS_VALUES: set[ExportStatus] = { 'canceled', 'completed', 'failed', 'in_progress', 'queued',  }

def check_export_status(value: str) -> ExportStatus:
    if value in EXPORT_STATUS_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {EXPORT_STATUS_VALUES!r}")

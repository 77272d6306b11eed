from typing import Literal

EvalRunStatus = Literal['canceled', 'completed', 'failed', 'in_progress', 'queued']

EVAL_RUN_STATUS_VALUES: set[EvalRunStatus] = { 'canceled', 'completed', 'failed', 'in_progress', 'queued',  }

def check_eval_run_status(value: str) -> EvalRunStatus:
    if value in EVAL_RUN_STATUS_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {EVAL_RUN_STATUS_VALUES!r}")

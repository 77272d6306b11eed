from typing import Literal

GetEvalRunOutputItemsStatusType0 = Literal['error', 'fail', 'pass']

GET_EVAL_RUN_OUTPUT_ITEMS_STATUS_TYPE_0_VALUES: set[GetEvalRunOutputItemsStatusType0] = { 'error', 'fail', 'pass',  }

def check_get_eval_run_output_items_status_type_0(value: str) -> GetEvalRunOutputItemsStatusType0:
    if value in GET_EVAL_RUN_OUTPUT_ITEMS_STATUS_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {GET_EVAL_RUN_OUTPUT_ITEMS_STATUS_TYPE_0_VALUES!r}")

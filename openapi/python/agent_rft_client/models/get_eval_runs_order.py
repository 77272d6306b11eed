from typing import Literal

GetEvalRunsOrder = Literal['asc', 'desc']

GET_EVAL_RUNS_ORDER_VALUES: set[GetEvalRunsOrder] = { 'asc', 'desc',  }

def check_get_eval_runs_order(value: str) -> GetEvalRunsOrder:
    if value in GET_EVAL_RUNS_ORDER_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {GET_EVAL_RUNS_ORDER_VALUES!r}")

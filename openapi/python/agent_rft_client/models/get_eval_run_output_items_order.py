from typing import Literal

GetEvalRunOutputItemsOrder = Literal['asc', 'desc']

GET_EVAL_RUN_OUTPUT_ITEMS_ORDER_VALUES: set[GetEvalRunOutputItemsOrder] = { 'asc', 'desc',  }

def check_get_eval_run_output_items_order(value: str) -> GetEvalRunOutputItemsOrder:
    if value in GET_EVAL_RUN_OUTPUT_ITEMS_ORDER_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {GET_EVAL_RUN_OUTPUT_ITEMS_ORDER_VALUES!r}")

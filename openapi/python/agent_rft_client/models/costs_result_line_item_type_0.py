from typing import Literal

CostsResultLineItemType0 = Literal['completions', 'fine_tuning']

COSTS_RESULT_LINE_ITEM_TYPE_0_VALUES: set[CostsResultLineItemType0] = { 'completions', 'fine_tuning',  }

def check_costs_result_line_item_type_0(value: str) -> CostsResultLineItemType0:
    if value in COSTS_RESULT_LINE_ITEM_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {COSTS_RESULT_LINE_ITEM_TYPE_0_VALUES!r}")

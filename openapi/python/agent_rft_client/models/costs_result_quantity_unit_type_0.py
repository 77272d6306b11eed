from typing import Literal

CostsResultQuantityUnitType0 = Literal['duration_seconds', 'tokens']

COSTS_RESULT_QUANTITY_UNIT_TYPE_0_VALUES: set[CostsResultQuantityUnitType0] = { 'duration_seconds', 'tokens',  }

def check_costs_result_quantity_unit_type_0(value: str) -> CostsResultQuantityUnitType0:
    if value in COSTS_RESULT_QUANTITY_UNIT_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {COSTS_RESULT_QUANTITY_UNIT_TYPE_0_VALUES!r}")

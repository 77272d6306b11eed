from typing import Literal

DpoOptionsVariant = Literal['ipo', 'sigmoid']

DPO_OPTIONS_VARIANT_VALUES: set[DpoOptionsVariant] = { 'ipo', 'sigmoid',  }

def check_dpo_options_variant(value: str) -> DpoOptionsVariant:
    if value in DPO_OPTIONS_VARIANT_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {DPO_OPTIONS_VARIANT_VALUES!r}")

from typing import Literal

ArithmeticEnvironmentOperationsItem = Literal['add', 'multiply', 'subtract']

ARITHMETIC_ENVIRONMENT_OPERATIONS_ITEM_VALUES: set[ArithmeticEnvironmentOperationsItem] = { 'add', 'multiply', 'subtract',  }

def check_arithmetic_environment_operations_item(value: str) -> ArithmeticEnvironmentOperationsItem:
    if value in ARITHMETIC_ENVIRONMENT_OPERATIONS_ITEM_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {ARITHMETIC_ENVIRONMENT_OPERATIONS_ITEM_VALUES!r}")

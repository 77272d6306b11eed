from typing import Literal

ReinforcementHyperparametersReasoningEffortType0 = Literal['default', 'high', 'low', 'medium']

REINFORCEMENT_HYPERPARAMETERS_REASONING_EFFORT_TYPE_0_VALUES: set[ReinforcementHyperparametersReasoningEffortType0] = { 'default', 'high', 'low', 'medium',  }

def check_reinforcement_hyperparameters_reasoning_effort_type_0(value: str) -> ReinforcementHyperparametersReasoningEffortType0:
    if value in REINFORCEMENT_HYPERPARAMETERS_REASONING_EFFORT_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {REINFORCEMENT_HYPERPARAMETERS_REASONING_EFFORT_TYPE_0_VALUES!r}")

from typing import Literal

SupervisedMethodTrainOnType0 = Literal['all', 'last']

SUPERVISED_METHOD_TRAIN_ON_TYPE_0_VALUES: set[SupervisedMethodTrainOnType0] = { 'all', 'last',  }

def check_supervised_method_train_on_type_0(value: str) -> SupervisedMethodTrainOnType0:
    if value in SUPERVISED_METHOD_TRAIN_ON_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {SUPERVISED_METHOD_TRAIN_ON_TYPE_0_VALUES!r}")

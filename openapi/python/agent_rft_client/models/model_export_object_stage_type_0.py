from typing import Literal

ModelExportObjectStageType0 = Literal['loading', 'merging', 'storing']

MODEL_EXPORT_OBJECT_STAGE_TYPE_0_VALUES: set[ModelExportObjectStageType0] = { 'loading', 'merging', 'storing',  }

def check_model_export_object_stage_type_0(value: str) -> ModelExportObjectStageType0:
    if value in MODEL_EXPORT_OBJECT_STAGE_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {MODEL_EXPORT_OBJECT_STAGE_TYPE_0_VALUES!r}")

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.export_status import check_export_status
from ..models.export_status import ExportStatus
from ..models.model_export_object_stage_type_0 import check_model_export_object_stage_type_0
from ..models.model_export_object_stage_type_0 import ModelExportObjectStageType0
from typing import cast
from typing import Literal, cast

if TYPE_CHECKING:
  from ..models.export_error import ExportError





T = TypeVar("T", bound="ModelExportObject")



@_attrs_define
class ModelExportObject:
    """ An export of a model: its state, and its size once it is complete.

        Attributes:
            id (str): Id of the object.
            object_ (Literal['model.export']): Type of the object; each type has one constant value. Default:
                'model.export'.
            model (str): Name of the exported model.
            kind (Literal['merged']): Form of the export.
            status (ExportStatus): State of an export; `completed`, `canceled` and `failed` are final.
            stage (ModelExportObjectStageType0 | None): Current stage of the work; `null` before and after.
            bytes_ (int): Bytes of the files; before the end an estimate.
            error (ExportError | None): The reason of a failure.
            created_at (int): Unix seconds at which the object was made.
            finished_at (int | None): Unix seconds of the end.
            expires_at (int | None): Unix seconds at which the export is removed.
     """

    id: str
    model: str
    kind: Literal['merged']
    status: ExportStatus
    stage: ModelExportObjectStageType0 | None
    bytes_: int
    error: ExportError | None
    created_at: int
    finished_at: int | None
    expires_at: int | None
    object_: Literal['model.export'] = 'model.export'
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.export_error import ExportError # noqa: PLC0415
        id = self.id

        object_ = self.object_

        model = self.model

        kind = self.kind

        status: str = self.status

        stage: None | str
        if isinstance(self.stage, str):
            stage = self.stage
        else:
            stage = self.stage

        bytes_ = self.bytes_

        error: dict[str, Any] | None
        if isinstance(self.error, ExportError):
            error = self.error.to_dict()
        else:
            error = self.error

        created_at = self.created_at

        finished_at: int | None
        finished_at = self.finished_at

        expires_at: int | None
        expires_at = self.expires_at


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "id": id,
            "object": object_,
            "model": model,
            "kind": kind,
            "status": status,
            "stage": stage,
            "bytes": bytes_,
            "error": error,
            "created_at": created_at,
            "finished_at": finished_at,
            "expires_at": expires_at,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.export_error import ExportError # noqa: PLC0415
        d = dict(src_dict)
        id = d.pop("id")

        object_ = cast(Literal['model.export'] , d.pop("object"))
        if object_ != 'model.export':
            raise ValueError(f"object must match const 'model.export', got '{object_}'")

        model = d.pop("model")

        kind = cast(Literal['merged'] , d.pop("kind"))
        if kind != 'merged':
            raise ValueError(f"kind must match const 'merged', got '{kind}'")

        status = check_export_status(d.pop("status"))




        def _parse_stage(data: object) -> ModelExportObjectStageType0 | None:
            if data is None:
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                stage_type_0 = check_model_export_object_stage_type_0(data)



                return stage_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(ModelExportObjectStageType0 | None, data)

        stage = _parse_stage(d.pop("stage"))


        bytes_ = d.pop("bytes")

        def _parse_error(data: object) -> ExportError | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                error_type_0 = ExportError.from_dict(data)



                return error_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(ExportError | None, data)

        error = _parse_error(d.pop("error"))


        created_at = d.pop("created_at")

        def _parse_finished_at(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        finished_at = _parse_finished_at(d.pop("finished_at"))


        def _parse_expires_at(data: object) -> int | None:
            if data is None:
                return data
            return cast(int | None, data)

        expires_at = _parse_expires_at(d.pop("expires_at"))


        model_export_object = cls(
            id=id,
            object_=object_,
            model=model,
            kind=kind,
            status=status,
            stage=stage,
            bytes_=bytes_,
            error=error,
            created_at=created_at,
            finished_at=finished_at,
            expires_at=expires_at,
        )


        model_export_object.additional_properties = d
        return model_export_object

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties

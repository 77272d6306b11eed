from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast
from typing import Literal, cast

if TYPE_CHECKING:
  from ..models.mlflow import Mlflow





T = TypeVar("T", bound="MlflowIntegration")



@_attrs_define
class MlflowIntegration:
    """ A run in MLflow, of your server or in the installation's own directory (an extension).

        Attributes:
            type_ (Literal['mlflow']): MLflow.
            mlflow (Mlflow | Unset): Server, experiment and run for the curves.
     """

    type_: Literal['mlflow']
    mlflow: Mlflow | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.mlflow import Mlflow # noqa: PLC0415
        type_ = self.type_

        mlflow: dict[str, Any] | Unset = UNSET
        if not isinstance(self.mlflow, Unset):
            mlflow = self.mlflow.to_dict()


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "type": type_,
        })
        if mlflow is not UNSET:
            field_dict["mlflow"] = mlflow

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.mlflow import Mlflow # noqa: PLC0415
        d = dict(src_dict)
        type_ = cast(Literal['mlflow'] , d.pop("type"))
        if type_ != 'mlflow':
            raise ValueError(f"type must match const 'mlflow', got '{type_}'")

        _mlflow = d.pop("mlflow", UNSET)
        mlflow: Mlflow | Unset
        if isinstance(_mlflow,  Unset):
            mlflow = UNSET
        else:
            mlflow = Mlflow.from_dict(_mlflow)




        mlflow_integration = cls(
            type_=type_,
            mlflow=mlflow,
        )


        mlflow_integration.additional_properties = d
        return mlflow_integration

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

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.bradley_terry_options import BradleyTerryOptions
  from ..models.dpo_hyperparameters import DpoHyperparameters
  from ..models.dpo_options import DpoOptions
  from ..models.keep_checkpoints import KeepCheckpoints
  from ..models.preference_stop_options import PreferenceStopOptions





T = TypeVar("T", bound="DpoMethod")



@_attrs_define
class DpoMethod:
    """ Settings of a preference job (DPO).

        Attributes:
            stop (None | PreferenceStopOptions | Unset): Rules that warn, pause the job or end it early (an extension).
            keep_checkpoints (KeepCheckpoints | None | Unset): Number of checkpoints that are kept (an extension).
            hyperparameters (DpoHyperparameters | None | Unset): Sizes and rates.
            loss (BradleyTerryOptions | DpoOptions | None | Unset): Extension of this project; `None` is DPO as published.
     """

    stop: None | PreferenceStopOptions | Unset = UNSET
    keep_checkpoints: KeepCheckpoints | None | Unset = UNSET
    hyperparameters: DpoHyperparameters | None | Unset = UNSET
    loss: BradleyTerryOptions | DpoOptions | None | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.bradley_terry_options import BradleyTerryOptions # noqa: PLC0415
        from ..models.dpo_hyperparameters import DpoHyperparameters # noqa: PLC0415
        from ..models.dpo_options import DpoOptions # noqa: PLC0415
        from ..models.keep_checkpoints import KeepCheckpoints # noqa: PLC0415
        from ..models.preference_stop_options import PreferenceStopOptions # noqa: PLC0415
        stop: dict[str, Any] | None | Unset
        if isinstance(self.stop, Unset):
            stop = UNSET
        elif isinstance(self.stop, PreferenceStopOptions):
            stop = self.stop.to_dict()
        else:
            stop = self.stop

        keep_checkpoints: dict[str, Any] | None | Unset
        if isinstance(self.keep_checkpoints, Unset):
            keep_checkpoints = UNSET
        elif isinstance(self.keep_checkpoints, KeepCheckpoints):
            keep_checkpoints = self.keep_checkpoints.to_dict()
        else:
            keep_checkpoints = self.keep_checkpoints

        hyperparameters: dict[str, Any] | None | Unset
        if isinstance(self.hyperparameters, Unset):
            hyperparameters = UNSET
        elif isinstance(self.hyperparameters, DpoHyperparameters):
            hyperparameters = self.hyperparameters.to_dict()
        else:
            hyperparameters = self.hyperparameters

        loss: dict[str, Any] | None | Unset
        if isinstance(self.loss, Unset):
            loss = UNSET
        elif isinstance(self.loss, DpoOptions):
            loss = self.loss.to_dict()
        elif isinstance(self.loss, BradleyTerryOptions):
            loss = self.loss.to_dict()
        else:
            loss = self.loss


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
        })
        if stop is not UNSET:
            field_dict["stop"] = stop
        if keep_checkpoints is not UNSET:
            field_dict["keep_checkpoints"] = keep_checkpoints
        if hyperparameters is not UNSET:
            field_dict["hyperparameters"] = hyperparameters
        if loss is not UNSET:
            field_dict["loss"] = loss

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.bradley_terry_options import BradleyTerryOptions # noqa: PLC0415
        from ..models.dpo_hyperparameters import DpoHyperparameters # noqa: PLC0415
        from ..models.dpo_options import DpoOptions # noqa: PLC0415
        from ..models.keep_checkpoints import KeepCheckpoints # noqa: PLC0415
        from ..models.preference_stop_options import PreferenceStopOptions # noqa: PLC0415
        d = dict(src_dict)
        def _parse_stop(data: object) -> None | PreferenceStopOptions | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                stop_type_0 = PreferenceStopOptions.from_dict(data)



                return stop_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | PreferenceStopOptions | Unset, data)

        stop = _parse_stop(d.pop("stop", UNSET))


        def _parse_keep_checkpoints(data: object) -> KeepCheckpoints | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                keep_checkpoints_type_0 = KeepCheckpoints.from_dict(data)



                return keep_checkpoints_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(KeepCheckpoints | None | Unset, data)

        keep_checkpoints = _parse_keep_checkpoints(d.pop("keep_checkpoints", UNSET))


        def _parse_hyperparameters(data: object) -> DpoHyperparameters | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                hyperparameters_type_0 = DpoHyperparameters.from_dict(data)



                return hyperparameters_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(DpoHyperparameters | None | Unset, data)

        hyperparameters = _parse_hyperparameters(d.pop("hyperparameters", UNSET))


        def _parse_loss(data: object) -> BradleyTerryOptions | DpoOptions | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                loss_type_0_type_0 = DpoOptions.from_dict(data)



                return loss_type_0_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                loss_type_0_type_1 = BradleyTerryOptions.from_dict(data)



                return loss_type_0_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(BradleyTerryOptions | DpoOptions | None | Unset, data)

        loss = _parse_loss(d.pop("loss", UNSET))


        dpo_method = cls(
            stop=stop,
            keep_checkpoints=keep_checkpoints,
            hyperparameters=hyperparameters,
            loss=loss,
        )


        dpo_method.additional_properties = d
        return dpo_method

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

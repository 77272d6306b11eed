from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.supervised_method_train_on_type_0 import check_supervised_method_train_on_type_0
from ..models.supervised_method_train_on_type_0 import SupervisedMethodTrainOnType0
from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.cross_entropy_options import CrossEntropyOptions
  from ..models.focal_options import FocalOptions
  from ..models.keep_checkpoints import KeepCheckpoints
  from ..models.label_smoothing_options import LabelSmoothingOptions
  from ..models.stop_options import StopOptions
  from ..models.supervised_hyperparameters import SupervisedHyperparameters





T = TypeVar("T", bound="SupervisedMethod")



@_attrs_define
class SupervisedMethod:
    """ Settings of a supervised job.

        Attributes:
            stop (None | StopOptions | Unset): Rules that warn, pause the job or end it early (an extension).
            keep_checkpoints (KeepCheckpoints | None | Unset): Number of checkpoints that are kept (an extension).
            hyperparameters (None | SupervisedHyperparameters | Unset): Sizes and rates.
            loss (CrossEntropyOptions | FocalOptions | LabelSmoothingOptions | None | Unset): Extension of this project;
                `None` is cross-entropy.
            train_on (None | SupervisedMethodTrainOnType0 | Unset): Extension of this project; `None` is `all`.
     """

    stop: None | StopOptions | Unset = UNSET
    keep_checkpoints: KeepCheckpoints | None | Unset = UNSET
    hyperparameters: None | SupervisedHyperparameters | Unset = UNSET
    loss: CrossEntropyOptions | FocalOptions | LabelSmoothingOptions | None | Unset = UNSET
    train_on: None | SupervisedMethodTrainOnType0 | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.cross_entropy_options import CrossEntropyOptions # noqa: PLC0415
        from ..models.focal_options import FocalOptions # noqa: PLC0415
        from ..models.keep_checkpoints import KeepCheckpoints # noqa: PLC0415
        from ..models.label_smoothing_options import LabelSmoothingOptions # noqa: PLC0415
        from ..models.stop_options import StopOptions # noqa: PLC0415
        from ..models.supervised_hyperparameters import SupervisedHyperparameters # noqa: PLC0415
        stop: dict[str, Any] | None | Unset
        if isinstance(self.stop, Unset):
            stop = UNSET
        elif isinstance(self.stop, StopOptions):
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
        elif isinstance(self.hyperparameters, SupervisedHyperparameters):
            hyperparameters = self.hyperparameters.to_dict()
        else:
            hyperparameters = self.hyperparameters

        loss: dict[str, Any] | None | Unset
        if isinstance(self.loss, Unset):
            loss = UNSET
        elif isinstance(self.loss, CrossEntropyOptions):
            loss = self.loss.to_dict()
        elif isinstance(self.loss, LabelSmoothingOptions):
            loss = self.loss.to_dict()
        elif isinstance(self.loss, FocalOptions):
            loss = self.loss.to_dict()
        else:
            loss = self.loss

        train_on: None | str | Unset
        if isinstance(self.train_on, Unset):
            train_on = UNSET
        elif isinstance(self.train_on, str):
            train_on = self.train_on
        else:
            train_on = self.train_on


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
        if train_on is not UNSET:
            field_dict["train_on"] = train_on

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.cross_entropy_options import CrossEntropyOptions # noqa: PLC0415
        from ..models.focal_options import FocalOptions # noqa: PLC0415
        from ..models.keep_checkpoints import KeepCheckpoints # noqa: PLC0415
        from ..models.label_smoothing_options import LabelSmoothingOptions # noqa: PLC0415
        from ..models.stop_options import StopOptions # noqa: PLC0415
        from ..models.supervised_hyperparameters import SupervisedHyperparameters # noqa: PLC0415
        d = dict(src_dict)
        def _parse_stop(data: object) -> None | StopOptions | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                stop_type_0 = StopOptions.from_dict(data)



                return stop_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | StopOptions | Unset, data)

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


        def _parse_hyperparameters(data: object) -> None | SupervisedHyperparameters | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                hyperparameters_type_0 = SupervisedHyperparameters.from_dict(data)



                return hyperparameters_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | SupervisedHyperparameters | Unset, data)

        hyperparameters = _parse_hyperparameters(d.pop("hyperparameters", UNSET))


        def _parse_loss(data: object) -> CrossEntropyOptions | FocalOptions | LabelSmoothingOptions | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                loss_type_0_type_0 = CrossEntropyOptions.from_dict(data)



                return loss_type_0_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                loss_type_0_type_1 = LabelSmoothingOptions.from_dict(data)



                return loss_type_0_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                loss_type_0_type_2 = FocalOptions.from_dict(data)



                return loss_type_0_type_2
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(CrossEntropyOptions | FocalOptions | LabelSmoothingOptions | None | Unset, data)

        loss = _parse_loss(d.pop("loss", UNSET))


        def _parse_train_on(data: object) -> None | SupervisedMethodTrainOnType0 | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                train_on_type_0 = check_supervised_method_train_on_type_0(data)



                return train_on_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | SupervisedMethodTrainOnType0 | Unset, data)

        train_on = _parse_train_on(d.pop("train_on", UNSET))


        supervised_method = cls(
            stop=stop,
            keep_checkpoints=keep_checkpoints,
            hyperparameters=hyperparameters,
            loss=loss,
            train_on=train_on,
        )


        supervised_method.additional_properties = d
        return supervised_method

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

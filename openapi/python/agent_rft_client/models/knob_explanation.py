from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..models.knob_explanation_knob import check_knob_explanation_knob
from ..models.knob_explanation_knob import KnobExplanationKnob
from typing import cast

if TYPE_CHECKING:
  from ..models.setting import Setting





T = TypeVar("T", bound="KnobExplanation")



@_attrs_define
class KnobExplanation:
    """ The settings of one knob, with their reasons.

        Attributes:
            knob (KnobExplanationKnob): Name of the knob.
            position (float | int | None | str): Position of the knob; `null` for a target that is not set.
            sentence (str): Everything that the knob sets, in one sentence.
            settings (list[Setting]): Each hyperparameter that the knob sets.
     """

    knob: KnobExplanationKnob
    position: float | int | None | str
    sentence: str
    settings: list[Setting]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.setting import Setting # noqa: PLC0415
        knob: str = self.knob

        position: float | int | None | str
        position = self.position

        sentence = self.sentence

        settings = []
        for settings_item_data in self.settings:
            settings_item = settings_item_data.to_dict()
            settings.append(settings_item)




        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "knob": knob,
            "position": position,
            "sentence": sentence,
            "settings": settings,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.setting import Setting # noqa: PLC0415
        d = dict(src_dict)
        knob = check_knob_explanation_knob(d.pop("knob"))




        def _parse_position(data: object) -> float | int | None | str:
            if data is None:
                return data
            return cast(float | int | None | str, data)

        position = _parse_position(d.pop("position"))


        sentence = d.pop("sentence")

        settings = []
        _settings = d.pop("settings")
        for settings_item_data in (_settings):
            settings_item = Setting.from_dict(settings_item_data)



            settings.append(settings_item)


        knob_explanation = cls(
            knob=knob,
            position=position,
            sentence=sentence,
            settings=settings,
        )


        knob_explanation.additional_properties = d
        return knob_explanation

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

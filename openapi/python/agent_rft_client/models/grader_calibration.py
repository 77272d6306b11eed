from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast
from typing import Literal, cast

if TYPE_CHECKING:
  from ..models.calibration_probe import CalibrationProbe
  from ..models.score_spread import ScoreSpread





T = TypeVar("T", bound="GraderCalibration")



@_attrs_define
class GraderCalibration:
    """ Findings about a grader from its scores of many answers.

        Attributes:
            object_ (Literal['grader.calibration']): Type of the object; each type has one constant value. Default:
                'grader.calibration'.
            samples (int): Answers that were sent.
            scored (int): Answers that have a score.
            faults (list[str]): The first reasons why an answer has no score.
            scores (ScoreSpread): The distribution of the scores.
            agreement (float | None): Spearman's correlation with `compare_with`; `null` without it, or if either grader
                gives no scores or only equal ones; the report then names the reason.
            probes (list[CalibrationProbe]): Answers that a sound grader scores low, without those that could not be tried
                or scored.
            report (list[str]): Findings in plain words.
     """

    samples: int
    scored: int
    faults: list[str]
    scores: ScoreSpread
    agreement: float | None
    probes: list[CalibrationProbe]
    report: list[str]
    object_: Literal['grader.calibration'] = 'grader.calibration'
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.calibration_probe import CalibrationProbe # noqa: PLC0415
        from ..models.score_spread import ScoreSpread # noqa: PLC0415
        object_ = self.object_

        samples = self.samples

        scored = self.scored

        faults = self.faults



        scores = self.scores.to_dict()

        agreement: float | None
        agreement = self.agreement

        probes = []
        for probes_item_data in self.probes:
            probes_item = probes_item_data.to_dict()
            probes.append(probes_item)



        report = self.report




        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "object": object_,
            "samples": samples,
            "scored": scored,
            "faults": faults,
            "scores": scores,
            "agreement": agreement,
            "probes": probes,
            "report": report,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.calibration_probe import CalibrationProbe # noqa: PLC0415
        from ..models.score_spread import ScoreSpread # noqa: PLC0415
        d = dict(src_dict)
        object_ = cast(Literal['grader.calibration'] , d.pop("object"))
        if object_ != 'grader.calibration':
            raise ValueError(f"object must match const 'grader.calibration', got '{object_}'")

        samples = d.pop("samples")

        scored = d.pop("scored")

        faults = cast(list[str], d.pop("faults"))


        scores = ScoreSpread.from_dict(d.pop("scores"))




        def _parse_agreement(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        agreement = _parse_agreement(d.pop("agreement"))


        probes = []
        _probes = d.pop("probes")
        for probes_item_data in (_probes):
            probes_item = CalibrationProbe.from_dict(probes_item_data)



            probes.append(probes_item)


        report = cast(list[str], d.pop("report"))


        grader_calibration = cls(
            object_=object_,
            samples=samples,
            scored=scored,
            faults=faults,
            scores=scores,
            agreement=agreement,
            probes=probes,
            report=report,
        )


        grader_calibration.additional_properties = d
        return grader_calibration

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

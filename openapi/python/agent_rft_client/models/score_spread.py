from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from typing import cast

if TYPE_CHECKING:
  from ..models.score_bin import ScoreBin
  from ..models.threshold_failures import ThresholdFailures





T = TypeVar("T", bound="ScoreSpread")



@_attrs_define
class ScoreSpread:
    """ The distribution of the scores.

        Attributes:
            mean (float): Mean score.
            std (float): Standard deviation of the scores.
            histogram (list[ScoreBin]): Ten bins over the grader's scale: its own limits, or 0 to 1; where it has none and a
                score is outside of 0 to 1, from the lowest to the highest score.
            all_lowest (float | None): Share of the rows with at least 4 answers whose answers all have the lowest score of
                the histogram; `null` if no row has 4 answers.
            all_highest (float | None): Share of the rows with at least 4 answers whose answers all have the highest score
                of the histogram; `null` if no row has 4 answers.
            no_spread (float | None): Share of the rows with at least 4 answers whose answers all have the same score: they
                teach nothing. `null` if no row has 4 answers.
            thresholds (list[ThresholdFailures]): Failures at each score that occurs, or at quantiles if there are more than
                50 different scores.
            recommended (float | None): Threshold at which 25 to 50 % of the answers fail; `null` if there is no such
                threshold.
     """

    mean: float
    std: float
    histogram: list[ScoreBin]
    all_lowest: float | None
    all_highest: float | None
    no_spread: float | None
    thresholds: list[ThresholdFailures]
    recommended: float | None
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.score_bin import ScoreBin # noqa: PLC0415
        from ..models.threshold_failures import ThresholdFailures # noqa: PLC0415
        mean = self.mean

        std = self.std

        histogram = []
        for histogram_item_data in self.histogram:
            histogram_item = histogram_item_data.to_dict()
            histogram.append(histogram_item)



        all_lowest: float | None
        all_lowest = self.all_lowest

        all_highest: float | None
        all_highest = self.all_highest

        no_spread: float | None
        no_spread = self.no_spread

        thresholds = []
        for thresholds_item_data in self.thresholds:
            thresholds_item = thresholds_item_data.to_dict()
            thresholds.append(thresholds_item)



        recommended: float | None
        recommended = self.recommended


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
            "mean": mean,
            "std": std,
            "histogram": histogram,
            "all_lowest": all_lowest,
            "all_highest": all_highest,
            "no_spread": no_spread,
            "thresholds": thresholds,
            "recommended": recommended,
        })

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.score_bin import ScoreBin # noqa: PLC0415
        from ..models.threshold_failures import ThresholdFailures # noqa: PLC0415
        d = dict(src_dict)
        mean = d.pop("mean")

        std = d.pop("std")

        histogram = []
        _histogram = d.pop("histogram")
        for histogram_item_data in (_histogram):
            histogram_item = ScoreBin.from_dict(histogram_item_data)



            histogram.append(histogram_item)


        def _parse_all_lowest(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        all_lowest = _parse_all_lowest(d.pop("all_lowest"))


        def _parse_all_highest(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        all_highest = _parse_all_highest(d.pop("all_highest"))


        def _parse_no_spread(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        no_spread = _parse_no_spread(d.pop("no_spread"))


        thresholds = []
        _thresholds = d.pop("thresholds")
        for thresholds_item_data in (_thresholds):
            thresholds_item = ThresholdFailures.from_dict(thresholds_item_data)



            thresholds.append(thresholds_item)


        def _parse_recommended(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        recommended = _parse_recommended(d.pop("recommended"))


        score_spread = cls(
            mean=mean,
            std=std,
            histogram=histogram,
            all_lowest=all_lowest,
            all_highest=all_highest,
            no_spread=no_spread,
            thresholds=thresholds,
            recommended=recommended,
        )


        score_spread.additional_properties = d
        return score_spread

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

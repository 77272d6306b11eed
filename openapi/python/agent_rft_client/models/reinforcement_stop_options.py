from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.entropy_rise_rule import EntropyRiseRule
  from ..models.entropy_rule import EntropyRule
  from ..models.gap_rule import GapRule
  from ..models.grader_errors_rule import GraderErrorsRule
  from ..models.limit_stops_rule import LimitStopsRule
  from ..models.max_steps_rule import MaxStepsRule
  from ..models.max_time_rule import MaxTimeRule
  from ..models.nothing_trained_rule import NothingTrainedRule
  from ..models.parse_errors_rule import ParseErrorsRule
  from ..models.plateau_rule import PlateauRule
  from ..models.target_rule import TargetRule
  from ..models.token_growth_rule import TokenGrowthRule
  from ..models.tool_call_collapse_rule import ToolCallCollapseRule
  from ..models.zero_variance_rule import ZeroVarianceRule





T = TypeVar("T", bound="ReinforcementStopOptions")



@_attrs_define
class ReinforcementStopOptions:
    """ Stop rules of a reinforcement job: those of every method, and those that read rollouts.

        Attributes:
            plateau (PlateauRule | Unset): Validation has not improved for a while; the base model's validation counts too.
            target (None | TargetRule | Unset): Validation has reached a target; `null` is off.
            max_steps (MaxStepsRule | None | Unset): A number of steps; `null` is off.
            max_time (MaxTimeRule | None | Unset): A time of training; `null` is off.
            gap (GapRule | Unset): Training has diverged from validation: the policy has memorised rows, or exploits the
                grader.
            nothing_trained (NothingTrainedRule | Unset): No step of the job has changed a weight so far.
            token_growth (TokenGrowthRule | Unset): Rollouts become longer and longer.
            entropy_collapse (EntropyRule | Unset): The policy has stopped exploring.
            zero_variance (ZeroVarianceRule | Unset): No group has rollouts of different reward, so that none of them
                trains.
            entropy_rise (EntropyRiseRule | Unset): The policy becomes random: its text turns into a mixture of the
                vocabulary.
            limit_stops (LimitStopsRule | Unset): Rollouts end at a limit instead of with an answer.
            tool_call_collapse (ToolCallCollapseRule | Unset): The policy has stopped calling its tools.
            grader_errors (GraderErrorsRule | Unset): Grades carry an error flag, or the grader fails.
            parse_errors (ParseErrorsRule | Unset): The policy writes tool calls that cannot be parsed.
     """

    plateau: PlateauRule | Unset = UNSET
    target: None | TargetRule | Unset = UNSET
    max_steps: MaxStepsRule | None | Unset = UNSET
    max_time: MaxTimeRule | None | Unset = UNSET
    gap: GapRule | Unset = UNSET
    nothing_trained: NothingTrainedRule | Unset = UNSET
    token_growth: TokenGrowthRule | Unset = UNSET
    entropy_collapse: EntropyRule | Unset = UNSET
    zero_variance: ZeroVarianceRule | Unset = UNSET
    entropy_rise: EntropyRiseRule | Unset = UNSET
    limit_stops: LimitStopsRule | Unset = UNSET
    tool_call_collapse: ToolCallCollapseRule | Unset = UNSET
    grader_errors: GraderErrorsRule | Unset = UNSET
    parse_errors: ParseErrorsRule | Unset = UNSET





    def to_dict(self) -> dict[str, Any]:
        from ..models.entropy_rise_rule import EntropyRiseRule # noqa: PLC0415
        from ..models.entropy_rule import EntropyRule # noqa: PLC0415
        from ..models.gap_rule import GapRule # noqa: PLC0415
        from ..models.grader_errors_rule import GraderErrorsRule # noqa: PLC0415
        from ..models.limit_stops_rule import LimitStopsRule # noqa: PLC0415
        from ..models.max_steps_rule import MaxStepsRule # noqa: PLC0415
        from ..models.max_time_rule import MaxTimeRule # noqa: PLC0415
        from ..models.nothing_trained_rule import NothingTrainedRule # noqa: PLC0415
        from ..models.parse_errors_rule import ParseErrorsRule # noqa: PLC0415
        from ..models.plateau_rule import PlateauRule # noqa: PLC0415
        from ..models.target_rule import TargetRule # noqa: PLC0415
        from ..models.token_growth_rule import TokenGrowthRule # noqa: PLC0415
        from ..models.tool_call_collapse_rule import ToolCallCollapseRule # noqa: PLC0415
        from ..models.zero_variance_rule import ZeroVarianceRule # noqa: PLC0415
        plateau: dict[str, Any] | Unset = UNSET
        if not isinstance(self.plateau, Unset):
            plateau = self.plateau.to_dict()

        target: dict[str, Any] | None | Unset
        if isinstance(self.target, Unset):
            target = UNSET
        elif isinstance(self.target, TargetRule):
            target = self.target.to_dict()
        else:
            target = self.target

        max_steps: dict[str, Any] | None | Unset
        if isinstance(self.max_steps, Unset):
            max_steps = UNSET
        elif isinstance(self.max_steps, MaxStepsRule):
            max_steps = self.max_steps.to_dict()
        else:
            max_steps = self.max_steps

        max_time: dict[str, Any] | None | Unset
        if isinstance(self.max_time, Unset):
            max_time = UNSET
        elif isinstance(self.max_time, MaxTimeRule):
            max_time = self.max_time.to_dict()
        else:
            max_time = self.max_time

        gap: dict[str, Any] | Unset = UNSET
        if not isinstance(self.gap, Unset):
            gap = self.gap.to_dict()

        nothing_trained: dict[str, Any] | Unset = UNSET
        if not isinstance(self.nothing_trained, Unset):
            nothing_trained = self.nothing_trained.to_dict()

        token_growth: dict[str, Any] | Unset = UNSET
        if not isinstance(self.token_growth, Unset):
            token_growth = self.token_growth.to_dict()

        entropy_collapse: dict[str, Any] | Unset = UNSET
        if not isinstance(self.entropy_collapse, Unset):
            entropy_collapse = self.entropy_collapse.to_dict()

        zero_variance: dict[str, Any] | Unset = UNSET
        if not isinstance(self.zero_variance, Unset):
            zero_variance = self.zero_variance.to_dict()

        entropy_rise: dict[str, Any] | Unset = UNSET
        if not isinstance(self.entropy_rise, Unset):
            entropy_rise = self.entropy_rise.to_dict()

        limit_stops: dict[str, Any] | Unset = UNSET
        if not isinstance(self.limit_stops, Unset):
            limit_stops = self.limit_stops.to_dict()

        tool_call_collapse: dict[str, Any] | Unset = UNSET
        if not isinstance(self.tool_call_collapse, Unset):
            tool_call_collapse = self.tool_call_collapse.to_dict()

        grader_errors: dict[str, Any] | Unset = UNSET
        if not isinstance(self.grader_errors, Unset):
            grader_errors = self.grader_errors.to_dict()

        parse_errors: dict[str, Any] | Unset = UNSET
        if not isinstance(self.parse_errors, Unset):
            parse_errors = self.parse_errors.to_dict()


        field_dict: dict[str, Any] = {}

        field_dict.update({
        })
        if plateau is not UNSET:
            field_dict["plateau"] = plateau
        if target is not UNSET:
            field_dict["target"] = target
        if max_steps is not UNSET:
            field_dict["max_steps"] = max_steps
        if max_time is not UNSET:
            field_dict["max_time"] = max_time
        if gap is not UNSET:
            field_dict["gap"] = gap
        if nothing_trained is not UNSET:
            field_dict["nothing_trained"] = nothing_trained
        if token_growth is not UNSET:
            field_dict["token_growth"] = token_growth
        if entropy_collapse is not UNSET:
            field_dict["entropy_collapse"] = entropy_collapse
        if zero_variance is not UNSET:
            field_dict["zero_variance"] = zero_variance
        if entropy_rise is not UNSET:
            field_dict["entropy_rise"] = entropy_rise
        if limit_stops is not UNSET:
            field_dict["limit_stops"] = limit_stops
        if tool_call_collapse is not UNSET:
            field_dict["tool_call_collapse"] = tool_call_collapse
        if grader_errors is not UNSET:
            field_dict["grader_errors"] = grader_errors
        if parse_errors is not UNSET:
            field_dict["parse_errors"] = parse_errors

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.entropy_rise_rule import EntropyRiseRule # noqa: PLC0415
        from ..models.entropy_rule import EntropyRule # noqa: PLC0415
        from ..models.gap_rule import GapRule # noqa: PLC0415
        from ..models.grader_errors_rule import GraderErrorsRule # noqa: PLC0415
        from ..models.limit_stops_rule import LimitStopsRule # noqa: PLC0415
        from ..models.max_steps_rule import MaxStepsRule # noqa: PLC0415
        from ..models.max_time_rule import MaxTimeRule # noqa: PLC0415
        from ..models.nothing_trained_rule import NothingTrainedRule # noqa: PLC0415
        from ..models.parse_errors_rule import ParseErrorsRule # noqa: PLC0415
        from ..models.plateau_rule import PlateauRule # noqa: PLC0415
        from ..models.target_rule import TargetRule # noqa: PLC0415
        from ..models.token_growth_rule import TokenGrowthRule # noqa: PLC0415
        from ..models.tool_call_collapse_rule import ToolCallCollapseRule # noqa: PLC0415
        from ..models.zero_variance_rule import ZeroVarianceRule # noqa: PLC0415
        d = dict(src_dict)
        _plateau = d.pop("plateau", UNSET)
        plateau: PlateauRule | Unset
        if isinstance(_plateau,  Unset):
            plateau = UNSET
        else:
            plateau = PlateauRule.from_dict(_plateau)




        def _parse_target(data: object) -> None | TargetRule | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                target_type_0 = TargetRule.from_dict(data)



                return target_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | TargetRule | Unset, data)

        target = _parse_target(d.pop("target", UNSET))


        def _parse_max_steps(data: object) -> MaxStepsRule | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                max_steps_type_0 = MaxStepsRule.from_dict(data)



                return max_steps_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(MaxStepsRule | None | Unset, data)

        max_steps = _parse_max_steps(d.pop("max_steps", UNSET))


        def _parse_max_time(data: object) -> MaxTimeRule | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                max_time_type_0 = MaxTimeRule.from_dict(data)



                return max_time_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(MaxTimeRule | None | Unset, data)

        max_time = _parse_max_time(d.pop("max_time", UNSET))


        _gap = d.pop("gap", UNSET)
        gap: GapRule | Unset
        if isinstance(_gap,  Unset):
            gap = UNSET
        else:
            gap = GapRule.from_dict(_gap)




        _nothing_trained = d.pop("nothing_trained", UNSET)
        nothing_trained: NothingTrainedRule | Unset
        if isinstance(_nothing_trained,  Unset):
            nothing_trained = UNSET
        else:
            nothing_trained = NothingTrainedRule.from_dict(_nothing_trained)




        _token_growth = d.pop("token_growth", UNSET)
        token_growth: TokenGrowthRule | Unset
        if isinstance(_token_growth,  Unset):
            token_growth = UNSET
        else:
            token_growth = TokenGrowthRule.from_dict(_token_growth)




        _entropy_collapse = d.pop("entropy_collapse", UNSET)
        entropy_collapse: EntropyRule | Unset
        if isinstance(_entropy_collapse,  Unset):
            entropy_collapse = UNSET
        else:
            entropy_collapse = EntropyRule.from_dict(_entropy_collapse)




        _zero_variance = d.pop("zero_variance", UNSET)
        zero_variance: ZeroVarianceRule | Unset
        if isinstance(_zero_variance,  Unset):
            zero_variance = UNSET
        else:
            zero_variance = ZeroVarianceRule.from_dict(_zero_variance)




        _entropy_rise = d.pop("entropy_rise", UNSET)
        entropy_rise: EntropyRiseRule | Unset
        if isinstance(_entropy_rise,  Unset):
            entropy_rise = UNSET
        else:
            entropy_rise = EntropyRiseRule.from_dict(_entropy_rise)




        _limit_stops = d.pop("limit_stops", UNSET)
        limit_stops: LimitStopsRule | Unset
        if isinstance(_limit_stops,  Unset):
            limit_stops = UNSET
        else:
            limit_stops = LimitStopsRule.from_dict(_limit_stops)




        _tool_call_collapse = d.pop("tool_call_collapse", UNSET)
        tool_call_collapse: ToolCallCollapseRule | Unset
        if isinstance(_tool_call_collapse,  Unset):
            tool_call_collapse = UNSET
        else:
            tool_call_collapse = ToolCallCollapseRule.from_dict(_tool_call_collapse)




        _grader_errors = d.pop("grader_errors", UNSET)
        grader_errors: GraderErrorsRule | Unset
        if isinstance(_grader_errors,  Unset):
            grader_errors = UNSET
        else:
            grader_errors = GraderErrorsRule.from_dict(_grader_errors)




        _parse_errors = d.pop("parse_errors", UNSET)
        parse_errors: ParseErrorsRule | Unset
        if isinstance(_parse_errors,  Unset):
            parse_errors = UNSET
        else:
            parse_errors = ParseErrorsRule.from_dict(_parse_errors)




        reinforcement_stop_options = cls(
            plateau=plateau,
            target=target,
            max_steps=max_steps,
            max_time=max_time,
            gap=gap,
            nothing_trained=nothing_trained,
            token_growth=token_growth,
            entropy_collapse=entropy_collapse,
            zero_variance=zero_variance,
            entropy_rise=entropy_rise,
            limit_stops=limit_stops,
            tool_call_collapse=tool_call_collapse,
            grader_errors=grader_errors,
            parse_errors=parse_errors,
        )

        return reinforcement_stop_options


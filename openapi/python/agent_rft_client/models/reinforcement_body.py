from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, BinaryIO, TextIO, TYPE_CHECKING, Generator

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

from ..types import UNSET, Unset
from typing import cast

if TYPE_CHECKING:
  from ..models.advantage_options import AdvantageOptions
  from ..models.ai_judge_grader import AiJudgeGrader
  from ..models.arithmetic_environment import ArithmeticEnvironment
  from ..models.async_options import AsyncOptions
  from ..models.auto_grader import AutoGrader
  from ..models.cispo_options import CispoOptions
  from ..models.code_execution_environment import CodeExecutionEnvironment
  from ..models.code_execution_grader import CodeExecutionGrader
  from ..models.contains_grader import ContainsGrader
  from ..models.dro_options import DroOptions
  from ..models.easy_to_hard_ordering import EasyToHardOrdering
  from ..models.endpoint_grader import EndpointGrader
  from ..models.environment_grader import EnvironmentGrader
  from ..models.exact_match_grader import ExactMatchGrader
  from ..models.focus_ordering import FocusOrdering
  from ..models.format_grader import FormatGrader
  from ..models.gsm_8k_environment import Gsm8KEnvironment
  from ..models.http_environment_spec import HttpEnvironmentSpec
  from ..models.importance_sampling_options import ImportanceSamplingOptions
  from ..models.json_valid_grader import JsonValidGrader
  from ..models.keep_checkpoints import KeepCheckpoints
  from ..models.label_model_grader import LabelModelGrader
  from ..models.length_bounds_grader import LengthBoundsGrader
  from ..models.llm_judge_environment import LlmJudgeEnvironment
  from ..models.llm_judge_grader import LlmJudgeGrader
  from ..models.mcp_server_spec import McpServerSpec
  from ..models.mismatch_options import MismatchOptions
  from ..models.multi_grader import MultiGrader
  from ..models.nothing_to_learn_options import NothingToLearnOptions
  from ..models.objective_options import ObjectiveOptions
  from ..models.ppo_options import PpoOptions
  from ..models.python_grader import PythonGrader
  from ..models.regex_grader import RegexGrader
  from ..models.registered_reference import RegisteredReference
  from ..models.reinforcement_body_response_format_type_0 import ReinforcementBodyResponseFormatType0
  from ..models.reinforcement_hyperparameters import ReinforcementHyperparameters
  from ..models.reinforcement_stop_options import ReinforcementStopOptions
  from ..models.score_model_grader import ScoreModelGrader
  from ..models.streaming_options import StreamingOptions
  from ..models.string_check_grader import StringCheckGrader
  from ..models.sync_options import SyncOptions
  from ..models.text_similarity_grader import TextSimilarityGrader
  from ..models.tool_call_grader import ToolCallGrader
  from ..models.tool_spec import ToolSpec
  from ..models.uniform_ordering import UniformOrdering





T = TypeVar("T", bound="ReinforcementBody")



@_attrs_define
class ReinforcementBody:
    """ Settings of a reinforcement job: grader, tools and training.

        Attributes:
            mode (AsyncOptions | None | StreamingOptions | SyncOptions | Unset): An extension; `None` is `sync`.
            ordering (EasyToHardOrdering | FocusOrdering | None | UniformOrdering | Unset): An extension: which rows a step
                takes; `None` is `uniform`.
            loss (CispoOptions | DroOptions | ImportanceSamplingOptions | None | PpoOptions | Unset): An extension; `None`
                is `ppo`.
            advantage (AdvantageOptions | None | Unset): An extension; `None` is `centred`.
            objective (None | ObjectiveOptions | Unset): An extension; `None` is a light token penalty.
            mismatch (MismatchOptions | None | Unset): An extension: corrections for a sampler that differs from the trained
                policy.
            environment (ArithmeticEnvironment | CodeExecutionEnvironment | Gsm8KEnvironment | HttpEnvironmentSpec |
                LlmJudgeEnvironment | None | RegisteredReference | str | Unset): An environment (an extension): a built-in
                source of tasks, instead of the files, or one of type `http`, which plays the rows of the files. It is a
                definition, a registered one as `{"id": "env_…"}`, or a text: the name of a built-in one, or else the id or the
                name of a registered one. It has its own grader.
            grader (AiJudgeGrader | AutoGrader | CodeExecutionGrader | ContainsGrader | EndpointGrader | EnvironmentGrader |
                ExactMatchGrader | FormatGrader | JsonValidGrader | LabelModelGrader | LengthBoundsGrader | LlmJudgeGrader |
                MultiGrader | None | PythonGrader | RegexGrader | RegisteredReference | ScoreModelGrader | StringCheckGrader |
                TextSimilarityGrader | ToolCallGrader | Unset): The function that scores each rollout: a definition, a
                registered grader as `{"id": "grader_…"}`, or `auto`, which is replaced by the grader that fits the rows of the
                training file. Required without an `environment`, whose own grader it replaces.
            tools (list[RegisteredReference | ToolSpec] | None | Unset): Tools that the service calls for the model:
                definitions, or registered ones as `{"id": "tool_…"}`. Without any, the tools of rows are offered and their
                calls graded, not run.
            mcp_servers (list[McpServerSpec] | None | Unset): MCP servers whose tools are offered on every row, beside the
                row's own.
            max_episode_steps (int | None | Unset): Largest number of turns and tool calls of a rollout; absent: 10.
            response_format (None | ReinforcementBodyResponseFormatType0 | Unset): It is stored and echoed; no engine
                enforces it.
            stop (None | ReinforcementStopOptions | Unset): Rules that warn, pause the job or end it early (an extension).
            keep_checkpoints (KeepCheckpoints | None | Unset): Number of checkpoints that are kept (an extension).
            nothing_to_learn (None | NothingToLearnOptions | Unset): Limits of the check that ends a job in which nothing
                can be learned (an extension).
            hyperparameters (None | ReinforcementHyperparameters | Unset): Sizes, rates and intervals.
     """

    mode: AsyncOptions | None | StreamingOptions | SyncOptions | Unset = UNSET
    ordering: EasyToHardOrdering | FocusOrdering | None | UniformOrdering | Unset = UNSET
    loss: CispoOptions | DroOptions | ImportanceSamplingOptions | None | PpoOptions | Unset = UNSET
    advantage: AdvantageOptions | None | Unset = UNSET
    objective: None | ObjectiveOptions | Unset = UNSET
    mismatch: MismatchOptions | None | Unset = UNSET
    environment: ArithmeticEnvironment | CodeExecutionEnvironment | Gsm8KEnvironment | HttpEnvironmentSpec | LlmJudgeEnvironment | None | RegisteredReference | str | Unset = UNSET
    grader: AiJudgeGrader | AutoGrader | CodeExecutionGrader | ContainsGrader | EndpointGrader | EnvironmentGrader | ExactMatchGrader | FormatGrader | JsonValidGrader | LabelModelGrader | LengthBoundsGrader | LlmJudgeGrader | MultiGrader | None | PythonGrader | RegexGrader | RegisteredReference | ScoreModelGrader | StringCheckGrader | TextSimilarityGrader | ToolCallGrader | Unset = UNSET
    tools: list[RegisteredReference | ToolSpec] | None | Unset = UNSET
    mcp_servers: list[McpServerSpec] | None | Unset = UNSET
    max_episode_steps: int | None | Unset = UNSET
    response_format: None | ReinforcementBodyResponseFormatType0 | Unset = UNSET
    stop: None | ReinforcementStopOptions | Unset = UNSET
    keep_checkpoints: KeepCheckpoints | None | Unset = UNSET
    nothing_to_learn: None | NothingToLearnOptions | Unset = UNSET
    hyperparameters: None | ReinforcementHyperparameters | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)





    def to_dict(self) -> dict[str, Any]:
        from ..models.advantage_options import AdvantageOptions # noqa: PLC0415
        from ..models.ai_judge_grader import AiJudgeGrader # noqa: PLC0415
        from ..models.arithmetic_environment import ArithmeticEnvironment # noqa: PLC0415
        from ..models.async_options import AsyncOptions # noqa: PLC0415
        from ..models.auto_grader import AutoGrader # noqa: PLC0415
        from ..models.cispo_options import CispoOptions # noqa: PLC0415
        from ..models.code_execution_environment import CodeExecutionEnvironment # noqa: PLC0415
        from ..models.code_execution_grader import CodeExecutionGrader # noqa: PLC0415
        from ..models.contains_grader import ContainsGrader # noqa: PLC0415
        from ..models.dro_options import DroOptions # noqa: PLC0415
        from ..models.easy_to_hard_ordering import EasyToHardOrdering # noqa: PLC0415
        from ..models.endpoint_grader import EndpointGrader # noqa: PLC0415
        from ..models.environment_grader import EnvironmentGrader # noqa: PLC0415
        from ..models.exact_match_grader import ExactMatchGrader # noqa: PLC0415
        from ..models.focus_ordering import FocusOrdering # noqa: PLC0415
        from ..models.format_grader import FormatGrader # noqa: PLC0415
        from ..models.gsm_8k_environment import Gsm8KEnvironment # noqa: PLC0415
        from ..models.http_environment_spec import HttpEnvironmentSpec # noqa: PLC0415
        from ..models.importance_sampling_options import ImportanceSamplingOptions # noqa: PLC0415
        from ..models.json_valid_grader import JsonValidGrader # noqa: PLC0415
        from ..models.keep_checkpoints import KeepCheckpoints # noqa: PLC0415
        from ..models.label_model_grader import LabelModelGrader # noqa: PLC0415
        from ..models.length_bounds_grader import LengthBoundsGrader # noqa: PLC0415
        from ..models.llm_judge_environment import LlmJudgeEnvironment # noqa: PLC0415
        from ..models.llm_judge_grader import LlmJudgeGrader # noqa: PLC0415
        from ..models.mcp_server_spec import McpServerSpec # noqa: PLC0415
        from ..models.mismatch_options import MismatchOptions # noqa: PLC0415
        from ..models.multi_grader import MultiGrader # noqa: PLC0415
        from ..models.nothing_to_learn_options import NothingToLearnOptions # noqa: PLC0415
        from ..models.objective_options import ObjectiveOptions # noqa: PLC0415
        from ..models.ppo_options import PpoOptions # noqa: PLC0415
        from ..models.python_grader import PythonGrader # noqa: PLC0415
        from ..models.regex_grader import RegexGrader # noqa: PLC0415
        from ..models.registered_reference import RegisteredReference # noqa: PLC0415
        from ..models.reinforcement_body_response_format_type_0 import ReinforcementBodyResponseFormatType0 # noqa: PLC0415
        from ..models.reinforcement_hyperparameters import ReinforcementHyperparameters # noqa: PLC0415
        from ..models.reinforcement_stop_options import ReinforcementStopOptions # noqa: PLC0415
        from ..models.score_model_grader import ScoreModelGrader # noqa: PLC0415
        from ..models.streaming_options import StreamingOptions # noqa: PLC0415
        from ..models.string_check_grader import StringCheckGrader # noqa: PLC0415
        from ..models.sync_options import SyncOptions # noqa: PLC0415
        from ..models.text_similarity_grader import TextSimilarityGrader # noqa: PLC0415
        from ..models.tool_call_grader import ToolCallGrader # noqa: PLC0415
        from ..models.tool_spec import ToolSpec # noqa: PLC0415
        from ..models.uniform_ordering import UniformOrdering # noqa: PLC0415
        mode: dict[str, Any] | None | Unset
        if isinstance(self.mode, Unset):
            mode = UNSET
        elif isinstance(self.mode, SyncOptions):
            mode = self.mode.to_dict()
        elif isinstance(self.mode, StreamingOptions):
            mode = self.mode.to_dict()
        elif isinstance(self.mode, AsyncOptions):
            mode = self.mode.to_dict()
        else:
            mode = self.mode

        ordering: dict[str, Any] | None | Unset
        if isinstance(self.ordering, Unset):
            ordering = UNSET
        elif isinstance(self.ordering, UniformOrdering):
            ordering = self.ordering.to_dict()
        elif isinstance(self.ordering, EasyToHardOrdering):
            ordering = self.ordering.to_dict()
        elif isinstance(self.ordering, FocusOrdering):
            ordering = self.ordering.to_dict()
        else:
            ordering = self.ordering

        loss: dict[str, Any] | None | Unset
        if isinstance(self.loss, Unset):
            loss = UNSET
        elif isinstance(self.loss, ImportanceSamplingOptions):
            loss = self.loss.to_dict()
        elif isinstance(self.loss, PpoOptions):
            loss = self.loss.to_dict()
        elif isinstance(self.loss, CispoOptions):
            loss = self.loss.to_dict()
        elif isinstance(self.loss, DroOptions):
            loss = self.loss.to_dict()
        else:
            loss = self.loss

        advantage: dict[str, Any] | None | Unset
        if isinstance(self.advantage, Unset):
            advantage = UNSET
        elif isinstance(self.advantage, AdvantageOptions):
            advantage = self.advantage.to_dict()
        else:
            advantage = self.advantage

        objective: dict[str, Any] | None | Unset
        if isinstance(self.objective, Unset):
            objective = UNSET
        elif isinstance(self.objective, ObjectiveOptions):
            objective = self.objective.to_dict()
        else:
            objective = self.objective

        mismatch: dict[str, Any] | None | Unset
        if isinstance(self.mismatch, Unset):
            mismatch = UNSET
        elif isinstance(self.mismatch, MismatchOptions):
            mismatch = self.mismatch.to_dict()
        else:
            mismatch = self.mismatch

        environment: dict[str, Any] | None | str | Unset
        if isinstance(self.environment, Unset):
            environment = UNSET
        elif isinstance(self.environment, ArithmeticEnvironment):
            environment = self.environment.to_dict()
        elif isinstance(self.environment, Gsm8KEnvironment):
            environment = self.environment.to_dict()
        elif isinstance(self.environment, CodeExecutionEnvironment):
            environment = self.environment.to_dict()
        elif isinstance(self.environment, LlmJudgeEnvironment):
            environment = self.environment.to_dict()
        elif isinstance(self.environment, HttpEnvironmentSpec):
            environment = self.environment.to_dict()
        elif isinstance(self.environment, RegisteredReference):
            environment = self.environment.to_dict()
        else:
            environment = self.environment

        grader: dict[str, Any] | None | Unset
        if isinstance(self.grader, Unset):
            grader = UNSET
        elif isinstance(self.grader, StringCheckGrader):
            grader = self.grader.to_dict()
        elif isinstance(self.grader, TextSimilarityGrader):
            grader = self.grader.to_dict()
        elif isinstance(self.grader, ExactMatchGrader):
            grader = self.grader.to_dict()
        elif isinstance(self.grader, ContainsGrader):
            grader = self.grader.to_dict()
        elif isinstance(self.grader, JsonValidGrader):
            grader = self.grader.to_dict()
        elif isinstance(self.grader, RegexGrader):
            grader = self.grader.to_dict()
        elif isinstance(self.grader, FormatGrader):
            grader = self.grader.to_dict()
        elif isinstance(self.grader, LengthBoundsGrader):
            grader = self.grader.to_dict()
        elif isinstance(self.grader, ToolCallGrader):
            grader = self.grader.to_dict()
        elif isinstance(self.grader, PythonGrader):
            grader = self.grader.to_dict()
        elif isinstance(self.grader, CodeExecutionGrader):
            grader = self.grader.to_dict()
        elif isinstance(self.grader, ScoreModelGrader):
            grader = self.grader.to_dict()
        elif isinstance(self.grader, LabelModelGrader):
            grader = self.grader.to_dict()
        elif isinstance(self.grader, LlmJudgeGrader):
            grader = self.grader.to_dict()
        elif isinstance(self.grader, AiJudgeGrader):
            grader = self.grader.to_dict()
        elif isinstance(self.grader, EndpointGrader):
            grader = self.grader.to_dict()
        elif isinstance(self.grader, EnvironmentGrader):
            grader = self.grader.to_dict()
        elif isinstance(self.grader, MultiGrader):
            grader = self.grader.to_dict()
        elif isinstance(self.grader, AutoGrader):
            grader = self.grader.to_dict()
        elif isinstance(self.grader, RegisteredReference):
            grader = self.grader.to_dict()
        else:
            grader = self.grader

        tools: list[dict[str, Any]] | None | Unset
        if isinstance(self.tools, Unset):
            tools = UNSET
        elif isinstance(self.tools, list):
            tools = []
            for tools_type_0_item_data in self.tools:
                tools_type_0_item: dict[str, Any]
                if isinstance(tools_type_0_item_data, ToolSpec):
                    tools_type_0_item = tools_type_0_item_data.to_dict()
                else:
                    tools_type_0_item = tools_type_0_item_data.to_dict()

                tools.append(tools_type_0_item)


        else:
            tools = self.tools

        mcp_servers: list[dict[str, Any]] | None | Unset
        if isinstance(self.mcp_servers, Unset):
            mcp_servers = UNSET
        elif isinstance(self.mcp_servers, list):
            mcp_servers = []
            for mcp_servers_type_0_item_data in self.mcp_servers:
                mcp_servers_type_0_item = mcp_servers_type_0_item_data.to_dict()
                mcp_servers.append(mcp_servers_type_0_item)


        else:
            mcp_servers = self.mcp_servers

        max_episode_steps: int | None | Unset
        if isinstance(self.max_episode_steps, Unset):
            max_episode_steps = UNSET
        else:
            max_episode_steps = self.max_episode_steps

        response_format: dict[str, Any] | None | Unset
        if isinstance(self.response_format, Unset):
            response_format = UNSET
        elif isinstance(self.response_format, ReinforcementBodyResponseFormatType0):
            response_format = self.response_format.to_dict()
        else:
            response_format = self.response_format

        stop: dict[str, Any] | None | Unset
        if isinstance(self.stop, Unset):
            stop = UNSET
        elif isinstance(self.stop, ReinforcementStopOptions):
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

        nothing_to_learn: dict[str, Any] | None | Unset
        if isinstance(self.nothing_to_learn, Unset):
            nothing_to_learn = UNSET
        elif isinstance(self.nothing_to_learn, NothingToLearnOptions):
            nothing_to_learn = self.nothing_to_learn.to_dict()
        else:
            nothing_to_learn = self.nothing_to_learn

        hyperparameters: dict[str, Any] | None | Unset
        if isinstance(self.hyperparameters, Unset):
            hyperparameters = UNSET
        elif isinstance(self.hyperparameters, ReinforcementHyperparameters):
            hyperparameters = self.hyperparameters.to_dict()
        else:
            hyperparameters = self.hyperparameters


        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update({
        })
        if mode is not UNSET:
            field_dict["mode"] = mode
        if ordering is not UNSET:
            field_dict["ordering"] = ordering
        if loss is not UNSET:
            field_dict["loss"] = loss
        if advantage is not UNSET:
            field_dict["advantage"] = advantage
        if objective is not UNSET:
            field_dict["objective"] = objective
        if mismatch is not UNSET:
            field_dict["mismatch"] = mismatch
        if environment is not UNSET:
            field_dict["environment"] = environment
        if grader is not UNSET:
            field_dict["grader"] = grader
        if tools is not UNSET:
            field_dict["tools"] = tools
        if mcp_servers is not UNSET:
            field_dict["mcp_servers"] = mcp_servers
        if max_episode_steps is not UNSET:
            field_dict["max_episode_steps"] = max_episode_steps
        if response_format is not UNSET:
            field_dict["response_format"] = response_format
        if stop is not UNSET:
            field_dict["stop"] = stop
        if keep_checkpoints is not UNSET:
            field_dict["keep_checkpoints"] = keep_checkpoints
        if nothing_to_learn is not UNSET:
            field_dict["nothing_to_learn"] = nothing_to_learn
        if hyperparameters is not UNSET:
            field_dict["hyperparameters"] = hyperparameters

        return field_dict



    @classmethod
    def from_dict(cls: type[T], src_dict: Mapping[str, Any]) -> T:
        from ..models.advantage_options import AdvantageOptions # noqa: PLC0415
        from ..models.ai_judge_grader import AiJudgeGrader # noqa: PLC0415
        from ..models.arithmetic_environment import ArithmeticEnvironment # noqa: PLC0415
        from ..models.async_options import AsyncOptions # noqa: PLC0415
        from ..models.auto_grader import AutoGrader # noqa: PLC0415
        from ..models.cispo_options import CispoOptions # noqa: PLC0415
        from ..models.code_execution_environment import CodeExecutionEnvironment # noqa: PLC0415
        from ..models.code_execution_grader import CodeExecutionGrader # noqa: PLC0415
        from ..models.contains_grader import ContainsGrader # noqa: PLC0415
        from ..models.dro_options import DroOptions # noqa: PLC0415
        from ..models.easy_to_hard_ordering import EasyToHardOrdering # noqa: PLC0415
        from ..models.endpoint_grader import EndpointGrader # noqa: PLC0415
        from ..models.environment_grader import EnvironmentGrader # noqa: PLC0415
        from ..models.exact_match_grader import ExactMatchGrader # noqa: PLC0415
        from ..models.focus_ordering import FocusOrdering # noqa: PLC0415
        from ..models.format_grader import FormatGrader # noqa: PLC0415
        from ..models.gsm_8k_environment import Gsm8KEnvironment # noqa: PLC0415
        from ..models.http_environment_spec import HttpEnvironmentSpec # noqa: PLC0415
        from ..models.importance_sampling_options import ImportanceSamplingOptions # noqa: PLC0415
        from ..models.json_valid_grader import JsonValidGrader # noqa: PLC0415
        from ..models.keep_checkpoints import KeepCheckpoints # noqa: PLC0415
        from ..models.label_model_grader import LabelModelGrader # noqa: PLC0415
        from ..models.length_bounds_grader import LengthBoundsGrader # noqa: PLC0415
        from ..models.llm_judge_environment import LlmJudgeEnvironment # noqa: PLC0415
        from ..models.llm_judge_grader import LlmJudgeGrader # noqa: PLC0415
        from ..models.mcp_server_spec import McpServerSpec # noqa: PLC0415
        from ..models.mismatch_options import MismatchOptions # noqa: PLC0415
        from ..models.multi_grader import MultiGrader # noqa: PLC0415
        from ..models.nothing_to_learn_options import NothingToLearnOptions # noqa: PLC0415
        from ..models.objective_options import ObjectiveOptions # noqa: PLC0415
        from ..models.ppo_options import PpoOptions # noqa: PLC0415
        from ..models.python_grader import PythonGrader # noqa: PLC0415
        from ..models.regex_grader import RegexGrader # noqa: PLC0415
        from ..models.registered_reference import RegisteredReference # noqa: PLC0415
        from ..models.reinforcement_body_response_format_type_0 import ReinforcementBodyResponseFormatType0 # noqa: PLC0415
        from ..models.reinforcement_hyperparameters import ReinforcementHyperparameters # noqa: PLC0415
        from ..models.reinforcement_stop_options import ReinforcementStopOptions # noqa: PLC0415
        from ..models.score_model_grader import ScoreModelGrader # noqa: PLC0415
        from ..models.streaming_options import StreamingOptions # noqa: PLC0415
        from ..models.string_check_grader import StringCheckGrader # noqa: PLC0415
        from ..models.sync_options import SyncOptions # noqa: PLC0415
        from ..models.text_similarity_grader import TextSimilarityGrader # noqa: PLC0415
        from ..models.tool_call_grader import ToolCallGrader # noqa: PLC0415
        from ..models.tool_spec import ToolSpec # noqa: PLC0415
        from ..models.uniform_ordering import UniformOrdering # noqa: PLC0415
        d = dict(src_dict)
        def _parse_mode(data: object) -> AsyncOptions | None | StreamingOptions | SyncOptions | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                mode_type_0_type_0 = SyncOptions.from_dict(data)



                return mode_type_0_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                mode_type_0_type_1 = StreamingOptions.from_dict(data)



                return mode_type_0_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                mode_type_0_type_2 = AsyncOptions.from_dict(data)



                return mode_type_0_type_2
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(AsyncOptions | None | StreamingOptions | SyncOptions | Unset, data)

        mode = _parse_mode(d.pop("mode", UNSET))


        def _parse_ordering(data: object) -> EasyToHardOrdering | FocusOrdering | None | UniformOrdering | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                ordering_type_0_type_0 = UniformOrdering.from_dict(data)



                return ordering_type_0_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                ordering_type_0_type_1 = EasyToHardOrdering.from_dict(data)



                return ordering_type_0_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                ordering_type_0_type_2 = FocusOrdering.from_dict(data)



                return ordering_type_0_type_2
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(EasyToHardOrdering | FocusOrdering | None | UniformOrdering | Unset, data)

        ordering = _parse_ordering(d.pop("ordering", UNSET))


        def _parse_loss(data: object) -> CispoOptions | DroOptions | ImportanceSamplingOptions | None | PpoOptions | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                loss_type_0_type_0 = ImportanceSamplingOptions.from_dict(data)



                return loss_type_0_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                loss_type_0_type_1 = PpoOptions.from_dict(data)



                return loss_type_0_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                loss_type_0_type_2 = CispoOptions.from_dict(data)



                return loss_type_0_type_2
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                loss_type_0_type_3 = DroOptions.from_dict(data)



                return loss_type_0_type_3
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(CispoOptions | DroOptions | ImportanceSamplingOptions | None | PpoOptions | Unset, data)

        loss = _parse_loss(d.pop("loss", UNSET))


        def _parse_advantage(data: object) -> AdvantageOptions | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                advantage_type_0 = AdvantageOptions.from_dict(data)



                return advantage_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(AdvantageOptions | None | Unset, data)

        advantage = _parse_advantage(d.pop("advantage", UNSET))


        def _parse_objective(data: object) -> None | ObjectiveOptions | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                objective_type_0 = ObjectiveOptions.from_dict(data)



                return objective_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | ObjectiveOptions | Unset, data)

        objective = _parse_objective(d.pop("objective", UNSET))


        def _parse_mismatch(data: object) -> MismatchOptions | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                mismatch_type_0 = MismatchOptions.from_dict(data)



                return mismatch_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(MismatchOptions | None | Unset, data)

        mismatch = _parse_mismatch(d.pop("mismatch", UNSET))


        def _parse_environment(data: object) -> ArithmeticEnvironment | CodeExecutionEnvironment | Gsm8KEnvironment | HttpEnvironmentSpec | LlmJudgeEnvironment | None | RegisteredReference | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                environment_type_0_type_0 = ArithmeticEnvironment.from_dict(data)



                return environment_type_0_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                environment_type_0_type_1 = Gsm8KEnvironment.from_dict(data)



                return environment_type_0_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                environment_type_0_type_2 = CodeExecutionEnvironment.from_dict(data)



                return environment_type_0_type_2
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                environment_type_0_type_3 = LlmJudgeEnvironment.from_dict(data)



                return environment_type_0_type_3
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                environment_type_0_type_4 = HttpEnvironmentSpec.from_dict(data)



                return environment_type_0_type_4
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                environment_type_1 = RegisteredReference.from_dict(data)



                return environment_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(ArithmeticEnvironment | CodeExecutionEnvironment | Gsm8KEnvironment | HttpEnvironmentSpec | LlmJudgeEnvironment | None | RegisteredReference | str | Unset, data)

        environment = _parse_environment(d.pop("environment", UNSET))


        def _parse_grader(data: object) -> AiJudgeGrader | AutoGrader | CodeExecutionGrader | ContainsGrader | EndpointGrader | EnvironmentGrader | ExactMatchGrader | FormatGrader | JsonValidGrader | LabelModelGrader | LengthBoundsGrader | LlmJudgeGrader | MultiGrader | None | PythonGrader | RegexGrader | RegisteredReference | ScoreModelGrader | StringCheckGrader | TextSimilarityGrader | ToolCallGrader | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                grader_type_0_type_0 = StringCheckGrader.from_dict(data)



                return grader_type_0_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                grader_type_0_type_1 = TextSimilarityGrader.from_dict(data)



                return grader_type_0_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                grader_type_0_type_2 = ExactMatchGrader.from_dict(data)



                return grader_type_0_type_2
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                grader_type_0_type_3 = ContainsGrader.from_dict(data)



                return grader_type_0_type_3
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                grader_type_0_type_4 = JsonValidGrader.from_dict(data)



                return grader_type_0_type_4
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                grader_type_0_type_5 = RegexGrader.from_dict(data)



                return grader_type_0_type_5
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                grader_type_0_type_6 = FormatGrader.from_dict(data)



                return grader_type_0_type_6
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                grader_type_0_type_7 = LengthBoundsGrader.from_dict(data)



                return grader_type_0_type_7
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                grader_type_0_type_8 = ToolCallGrader.from_dict(data)



                return grader_type_0_type_8
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                grader_type_0_type_9 = PythonGrader.from_dict(data)



                return grader_type_0_type_9
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                grader_type_0_type_10 = CodeExecutionGrader.from_dict(data)



                return grader_type_0_type_10
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                grader_type_0_type_11 = ScoreModelGrader.from_dict(data)



                return grader_type_0_type_11
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                grader_type_0_type_12 = LabelModelGrader.from_dict(data)



                return grader_type_0_type_12
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                grader_type_0_type_13 = LlmJudgeGrader.from_dict(data)



                return grader_type_0_type_13
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                grader_type_0_type_14 = AiJudgeGrader.from_dict(data)



                return grader_type_0_type_14
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                grader_type_0_type_15 = EndpointGrader.from_dict(data)



                return grader_type_0_type_15
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                grader_type_0_type_16 = EnvironmentGrader.from_dict(data)



                return grader_type_0_type_16
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                grader_type_0_type_17 = MultiGrader.from_dict(data)



                return grader_type_0_type_17
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                grader_type_1 = AutoGrader.from_dict(data)



                return grader_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                grader_type_2 = RegisteredReference.from_dict(data)



                return grader_type_2
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(AiJudgeGrader | AutoGrader | CodeExecutionGrader | ContainsGrader | EndpointGrader | EnvironmentGrader | ExactMatchGrader | FormatGrader | JsonValidGrader | LabelModelGrader | LengthBoundsGrader | LlmJudgeGrader | MultiGrader | None | PythonGrader | RegexGrader | RegisteredReference | ScoreModelGrader | StringCheckGrader | TextSimilarityGrader | ToolCallGrader | Unset, data)

        grader = _parse_grader(d.pop("grader", UNSET))


        def _parse_tools(data: object) -> list[RegisteredReference | ToolSpec] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                tools_type_0 = []
                _tools_type_0 = data
                for tools_type_0_item_data in (_tools_type_0):
                    def _parse_tools_type_0_item(data: object) -> RegisteredReference | ToolSpec:
                        try:
                            if not isinstance(data, dict):
                                raise TypeError()
                            tools_type_0_item_type_0 = ToolSpec.from_dict(data)



                            return tools_type_0_item_type_0
                        except (TypeError, ValueError, AttributeError, KeyError):
                            pass
                        if not isinstance(data, dict):
                            raise TypeError()
                        tools_type_0_item_type_1 = RegisteredReference.from_dict(data)



                        return tools_type_0_item_type_1

                    tools_type_0_item = _parse_tools_type_0_item(tools_type_0_item_data)

                    tools_type_0.append(tools_type_0_item)

                return tools_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[RegisteredReference | ToolSpec] | None | Unset, data)

        tools = _parse_tools(d.pop("tools", UNSET))


        def _parse_mcp_servers(data: object) -> list[McpServerSpec] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                mcp_servers_type_0 = []
                _mcp_servers_type_0 = data
                for mcp_servers_type_0_item_data in (_mcp_servers_type_0):
                    mcp_servers_type_0_item = McpServerSpec.from_dict(mcp_servers_type_0_item_data)



                    mcp_servers_type_0.append(mcp_servers_type_0_item)

                return mcp_servers_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[McpServerSpec] | None | Unset, data)

        mcp_servers = _parse_mcp_servers(d.pop("mcp_servers", UNSET))


        def _parse_max_episode_steps(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        max_episode_steps = _parse_max_episode_steps(d.pop("max_episode_steps", UNSET))


        def _parse_response_format(data: object) -> None | ReinforcementBodyResponseFormatType0 | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                response_format_type_0 = ReinforcementBodyResponseFormatType0.from_dict(data)



                return response_format_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | ReinforcementBodyResponseFormatType0 | Unset, data)

        response_format = _parse_response_format(d.pop("response_format", UNSET))


        def _parse_stop(data: object) -> None | ReinforcementStopOptions | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                stop_type_0 = ReinforcementStopOptions.from_dict(data)



                return stop_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | ReinforcementStopOptions | Unset, data)

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


        def _parse_nothing_to_learn(data: object) -> None | NothingToLearnOptions | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                nothing_to_learn_type_0 = NothingToLearnOptions.from_dict(data)



                return nothing_to_learn_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | NothingToLearnOptions | Unset, data)

        nothing_to_learn = _parse_nothing_to_learn(d.pop("nothing_to_learn", UNSET))


        def _parse_hyperparameters(data: object) -> None | ReinforcementHyperparameters | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                hyperparameters_type_0 = ReinforcementHyperparameters.from_dict(data)



                return hyperparameters_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | ReinforcementHyperparameters | Unset, data)

        hyperparameters = _parse_hyperparameters(d.pop("hyperparameters", UNSET))


        reinforcement_body = cls(
            mode=mode,
            ordering=ordering,
            loss=loss,
            advantage=advantage,
            objective=objective,
            mismatch=mismatch,
            environment=environment,
            grader=grader,
            tools=tools,
            mcp_servers=mcp_servers,
            max_episode_steps=max_episode_steps,
            response_format=response_format,
            stop=stop,
            keep_checkpoints=keep_checkpoints,
            nothing_to_learn=nothing_to_learn,
            hyperparameters=hyperparameters,
        )


        reinforcement_body.additional_properties = d
        return reinforcement_body

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

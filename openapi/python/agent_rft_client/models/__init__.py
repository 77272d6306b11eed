""" Contains all the data models used in inputs/outputs """

from .add_upload_part_body import AddUploadPartBody
from .admin_api_keys_list_order import AdminApiKeysListOrder
from .admin_key_deleted import AdminKeyDeleted
from .admin_key_object import AdminKeyObject
from .admin_key_owner import AdminKeyOwner
from .admin_key_with_value import AdminKeyWithValue
from .advantage_options import AdvantageOptions
from .advantage_options_type import AdvantageOptionsType
from .ai_judge_grader import AiJudgeGrader
from .ai_judge_grader_headers_type_0 import AiJudgeGraderHeadersType0
from .allowed_tools import AllowedTools
from .arithmetic_environment import ArithmeticEnvironment
from .arithmetic_environment_operations_item import ArithmeticEnvironmentOperationsItem
from .async_options import AsyncOptions
from .audit_actor import AuditActor
from .audit_actor_account import AuditActorAccount
from .audit_actor_key import AuditActorKey
from .audit_actor_key_type import AuditActorKeyType
from .audit_actor_session import AuditActorSession
from .audit_actor_type import AuditActorType
from .audit_actor_user import AuditActorUser
from .audit_log_entry import AuditLogEntry
from .audit_project import AuditProject
from .auto_grader import AutoGrader
from .bradley_terry_options import BradleyTerryOptions
from .calibrate_grader import CalibrateGrader
from .calibration_probe import CalibrationProbe
from .calibration_probe_name import CalibrationProbeName
from .calibration_sample import CalibrationSample
from .calibration_sample_item_type_0 import CalibrationSampleItemType0
from .chat_assistant_message import ChatAssistantMessage
from .chat_choice import ChatChoice
from .chat_choice_finish_reason import ChatChoiceFinishReason
from .chat_chunk_choice import ChatChunkChoice
from .chat_chunk_choice_finish_reason_type_0 import ChatChunkChoiceFinishReasonType0
from .chat_completion import ChatCompletion
from .chat_completion_chunk import ChatCompletionChunk
from .chat_completion_deleted import ChatCompletionDeleted
from .chat_completion_request import ChatCompletionRequest
from .chat_completion_request_logit_bias_type_0 import ChatCompletionRequestLogitBiasType0
from .chat_completion_request_metadata_type_0 import ChatCompletionRequestMetadataType0
from .chat_completion_request_prompt_cache_options_type_0 import ChatCompletionRequestPromptCacheOptionsType0
from .chat_completion_request_reasoning_effort_type_0 import ChatCompletionRequestReasoningEffortType0
from .chat_completion_request_service_tier_type_0 import ChatCompletionRequestServiceTierType0
from .chat_completion_request_tool_choice_type_0 import ChatCompletionRequestToolChoiceType0
from .chat_completion_request_verbosity_type_0 import ChatCompletionRequestVerbosityType0
from .chat_delta import ChatDelta
from .chat_function import ChatFunction
from .chat_function_call import ChatFunctionCall
from .chat_function_call_delta import ChatFunctionCallDelta
from .chat_function_name import ChatFunctionName
from .chat_function_parameters_type_0 import ChatFunctionParametersType0
from .chat_json_schema import ChatJsonSchema
from .chat_json_schema_schema import ChatJsonSchemaSchema
from .chat_message import ChatMessage
from .chat_named_tool import ChatNamedTool
from .chat_refusal_part import ChatRefusalPart
from .chat_request_function_call import ChatRequestFunctionCall
from .chat_request_tool_call import ChatRequestToolCall
from .chat_response_format import ChatResponseFormat
from .chat_response_format_type import ChatResponseFormatType
from .chat_stream_options import ChatStreamOptions
from .chat_system_message import ChatSystemMessage
from .chat_system_message_role import ChatSystemMessageRole
from .chat_text_part import ChatTextPart
from .chat_tool import ChatTool
from .chat_tool_call import ChatToolCall
from .chat_tool_call_delta import ChatToolCallDelta
from .chat_tool_call_error import ChatToolCallError
from .chat_tool_message import ChatToolMessage
from .chat_usage import ChatUsage
from .chat_user_message import ChatUserMessage
from .chosen_reward_rule import ChosenRewardRule
from .chosen_reward_rule_action import ChosenRewardRuleAction
from .cispo_options import CispoOptions
from .code_execution_environment import CodeExecutionEnvironment
from .code_execution_grader import CodeExecutionGrader
from .comparison import Comparison
from .compile_improvement_plan import CompileImprovementPlan
from .compile_improvement_plan_curriculum_type_1 import CompileImprovementPlanCurriculumType1
from .compile_improvement_plan_environment_type_1 import CompileImprovementPlanEnvironmentType1
from .compile_improvement_plan_grader_type_1 import CompileImprovementPlanGraderType1
from .compile_improvement_plan_mcp_servers_type_0_item import CompileImprovementPlanMcpServersType0Item
from .compile_improvement_plan_metadata_type_0 import CompileImprovementPlanMetadataType0
from .compile_improvement_plan_method_type_0 import CompileImprovementPlanMethodType0
from .compile_improvement_plan_tools_type_0_item import CompileImprovementPlanToolsType0Item
from .complete_upload import CompleteUpload
from .completion_tokens_details import CompletionTokensDetails
from .completions_usage import CompletionsUsage
from .component_comparison import ComponentComparison
from .contains_grader import ContainsGrader
from .contains_grader_match import ContainsGraderMatch
from .cost_amount import CostAmount
from .costs_page_object import CostsPageObject
from .costs_result import CostsResult
from .costs_result_line_item_type_0 import CostsResultLineItemType0
from .costs_result_quantity_unit_type_0 import CostsResultQuantityUnitType0
from .create_admin_key import CreateAdminKey
from .create_curriculum import CreateCurriculum
from .create_curriculum_metadata_type_0 import CreateCurriculumMetadataType0
from .create_curriculum_training_type_0_item import CreateCurriculumTrainingType0Item
from .create_curriculum_validation_type_0_item import CreateCurriculumValidationType0Item
from .create_environment import CreateEnvironment
from .create_environment_headers_type_0 import CreateEnvironmentHeadersType0
from .create_environment_metadata_type_0 import CreateEnvironmentMetadataType0
from .create_eval import CreateEval
from .create_eval_metadata_type_0 import CreateEvalMetadataType0
from .create_eval_run import CreateEvalRun
from .create_eval_run_data_source import CreateEvalRunDataSource
from .create_eval_run_metadata_type_0 import CreateEvalRunMetadataType0
from .create_eval_testing_criteria_item import CreateEvalTestingCriteriaItem
from .create_feedback import CreateFeedback
from .create_feedback_build import CreateFeedbackBuild
from .create_feedback_build_method import CreateFeedbackBuildMethod
from .create_feedback_chosen_type_1 import CreateFeedbackChosenType1
from .create_feedback_correction_type_1 import CreateFeedbackCorrectionType1
from .create_feedback_messages_type_0_item import CreateFeedbackMessagesType0Item
from .create_feedback_rating_type_0 import CreateFeedbackRatingType0
from .create_feedback_rejected_type_1 import CreateFeedbackRejectedType1
from .create_feedback_tools_type_0_item import CreateFeedbackToolsType0Item
from .create_feedback_type import CreateFeedbackType
from .create_file_body import CreateFileBody
from .create_file_body_expires_afteranchor import CreateFileBodyExpiresAfteranchor
from .create_file_body_purpose import CreateFileBodyPurpose
from .create_fine_tuning_job import CreateFineTuningJob
from .create_fine_tuning_job_curriculum_type_1 import CreateFineTuningJobCurriculumType1
from .create_fine_tuning_job_hyperparameters_type_0 import CreateFineTuningJobHyperparametersType0
from .create_fine_tuning_job_metadata_type_0 import CreateFineTuningJobMetadataType0
from .create_grader import CreateGrader
from .create_grader_metadata_type_0 import CreateGraderMetadataType0
from .create_model_export import CreateModelExport
from .create_permissions import CreatePermissions
from .create_project import CreateProject
from .create_service_account import CreateServiceAccount
from .create_service_account_key import CreateServiceAccountKey
from .create_student import CreateStudent
from .create_tool import CreateTool
from .create_tool_headers_type_0 import CreateToolHeadersType0
from .create_tool_metadata_type_0 import CreateToolMetadataType0
from .create_tool_parameters_type_0 import CreateToolParametersType0
from .create_upload import CreateUpload
from .create_webhook_endpoint import CreateWebhookEndpoint
from .create_webhook_endpoint_event_types_item import CreateWebhookEndpointEventTypesItem
from .criterion import Criterion
from .criterion_result import CriterionResult
from .cross_entropy_options import CrossEntropyOptions
from .curriculum import Curriculum
from .curriculum_metadata_type_0 import CurriculumMetadataType0
from .curriculum_test import CurriculumTest
from .curve import Curve
from .curve_split import CurveSplit
from .data_source_config import DataSourceConfig
from .data_source_config_item_schema_type_0 import DataSourceConfigItemSchemaType0
from .data_source_config_type import DataSourceConfigType
from .deleted import Deleted
from .delivery_error import DeliveryError
from .delivery_status import DeliveryStatus
from .dpo_hyperparameters import DpoHyperparameters
from .dpo_method import DpoMethod
from .dpo_options import DpoOptions
from .dpo_options_variant import DpoOptionsVariant
from .dro_options import DroOptions
from .dropped_feedback import DroppedFeedback
from .dropped_feedback_reason import DroppedFeedbackReason
from .end_user_removal import EndUserRemoval
from .endpoint_check import EndpointCheck
from .endpoint_grader import EndpointGrader
from .endpoint_grader_headers_type_0 import EndpointGraderHeadersType0
from .entropy_rise_rule import EntropyRiseRule
from .entropy_rise_rule_action import EntropyRiseRuleAction
from .entropy_rule import EntropyRule
from .entropy_rule_action import EntropyRuleAction
from .environment import Environment
from .environment_check import EnvironmentCheck
from .environment_check_status import EnvironmentCheckStatus
from .environment_exchange import EnvironmentExchange
from .environment_exchange_sent import EnvironmentExchangeSent
from .environment_grader import EnvironmentGrader
from .environment_headers_type_0 import EnvironmentHeadersType0
from .environment_metadata_type_0 import EnvironmentMetadataType0
from .environment_test_call import EnvironmentTestCall
from .environment_test_result import EnvironmentTestResult
from .error_body import ErrorBody
from .error_envelope import ErrorEnvelope
from .estimate import Estimate
from .estimate_basis import EstimateBasis
from .eval_deleted import EvalDeleted
from .eval_object import EvalObject
from .eval_object_data_source_config import EvalObjectDataSourceConfig
from .eval_object_metadata_type_0 import EvalObjectMetadataType0
from .eval_object_testing_criteria_item import EvalObjectTestingCriteriaItem
from .eval_run_canceled_webhook_event import EvalRunCanceledWebhookEvent
from .eval_run_deleted import EvalRunDeleted
from .eval_run_failed_webhook_event import EvalRunFailedWebhookEvent
from .eval_run_object import EvalRunObject
from .eval_run_object_data_source import EvalRunObjectDataSource
from .eval_run_object_error_type_0 import EvalRunObjectErrorType0
from .eval_run_object_metadata_type_0 import EvalRunObjectMetadataType0
from .eval_run_status import EvalRunStatus
from .eval_run_succeeded_webhook_event import EvalRunSucceededWebhookEvent
from .event_subject import EventSubject
from .exact_match_grader import ExactMatchGrader
from .exact_match_grader_unicode import ExactMatchGraderUnicode
from .expires_after import ExpiresAfter
from .explain_improvement_plan import ExplainImprovementPlan
from .explain_improvement_plan_job_type_0 import ExplainImprovementPlanJobType0
from .export_audit_logs_event_types_type_0_item import ExportAuditLogsEventTypesType0Item
from .export_error import ExportError
from .export_fine_tuning_job_metrics_format import ExportFineTuningJobMetricsFormat
from .export_fine_tuning_job_metrics_split_type_0 import ExportFineTuningJobMetricsSplitType0
from .export_fine_tuning_job_rollouts_format import ExportFineTuningJobRolloutsFormat
from .export_fine_tuning_job_rollouts_split_type_0 import ExportFineTuningJobRolloutsSplitType0
from .export_status import ExportStatus
from .failure_class import FailureClass
from .fault import Fault
from .fault_severity import FaultSeverity
from .feedback_build_object import FeedbackBuildObject
from .feedback_build_object_findings import FeedbackBuildObjectFindings
from .feedback_build_object_method import FeedbackBuildObjectMethod
from .feedback_finding import FeedbackFinding
from .feedback_finding_kind import FeedbackFindingKind
from .feedback_findings import FeedbackFindings
from .feedback_object import FeedbackObject
from .feedback_object_better_type_0 import FeedbackObjectBetterType0
from .feedback_object_messages_type_0_item import FeedbackObjectMessagesType0Item
from .feedback_object_rating_type_0 import FeedbackObjectRatingType0
from .feedback_object_tools_type_0_item import FeedbackObjectToolsType0Item
from .feedback_object_type import FeedbackObjectType
from .feedback_object_worse_type_0 import FeedbackObjectWorseType0
from .feedback_source import FeedbackSource
from .feedback_sources import FeedbackSources
from .file_object import FileObject
from .file_summary import FileSummary
from .file_summary_tools import FileSummaryTools
from .fine_tuning_job import FineTuningJob
from .fine_tuning_job_cancelled_webhook_event import FineTuningJobCancelledWebhookEvent
from .fine_tuning_job_checkpoint import FineTuningJobCheckpoint
from .fine_tuning_job_checkpoint_metrics import FineTuningJobCheckpointMetrics
from .fine_tuning_job_ended_early_type_0 import FineTuningJobEndedEarlyType0
from .fine_tuning_job_error_type_1 import FineTuningJobErrorType1
from .fine_tuning_job_event import FineTuningJobEvent
from .fine_tuning_job_event_data_type_0 import FineTuningJobEventDataType0
from .fine_tuning_job_event_level import FineTuningJobEventLevel
from .fine_tuning_job_event_type import FineTuningJobEventType
from .fine_tuning_job_failed_webhook_event import FineTuningJobFailedWebhookEvent
from .fine_tuning_job_hyperparameters_type_0 import FineTuningJobHyperparametersType0
from .fine_tuning_job_integrations_item import FineTuningJobIntegrationsItem
from .fine_tuning_job_metadata_type_0 import FineTuningJobMetadataType0
from .fine_tuning_job_method import FineTuningJobMethod
from .fine_tuning_job_succeeded_webhook_event import FineTuningJobSucceededWebhookEvent
from .fine_tuning_job_validation import FineTuningJobValidation
from .fine_tuning_usage import FineTuningUsage
from .focal_options import FocalOptions
from .format_grader import FormatGrader
from .gap_rule import GapRule
from .gap_rule_action import GapRuleAction
from .gate_runs import GateRuns
from .generate_scenarios import GenerateScenarios
from .generate_scenarios_tools_item import GenerateScenariosToolsItem
from .generated_curriculum import GeneratedCurriculum
from .generated_curriculum_training_item import GeneratedCurriculumTrainingItem
from .generated_curriculum_validation_item import GeneratedCurriculumValidationItem
from .generated_scenarios import GeneratedScenarios
from .geometric_mean_mask import GeometricMeanMask
from .get_chat_completion_messages_order import GetChatCompletionMessagesOrder
from .get_eval_run_output_items_order import GetEvalRunOutputItemsOrder
from .get_eval_run_output_items_status_type_0 import GetEvalRunOutputItemsStatusType0
from .get_eval_runs_order import GetEvalRunsOrder
from .grader_calibration import GraderCalibration
from .grader_choice import GraderChoice
from .grader_choice_grader import GraderChoiceGrader
from .grader_error_flags import GraderErrorFlags
from .grader_errors_rule import GraderErrorsRule
from .grader_errors_rule_action import GraderErrorsRuleAction
from .grader_run import GraderRun
from .grader_run_metadata import GraderRunMetadata
from .grader_run_metadata_reasons import GraderRunMetadataReasons
from .grader_run_metadata_scores import GraderRunMetadataScores
from .grader_run_model_grader_token_usage_per_model import GraderRunModelGraderTokenUsagePerModel
from .grader_run_model_grader_token_usage_per_model_additional_property import GraderRunModelGraderTokenUsagePerModelAdditionalProperty
from .grader_run_sub_rewards import GraderRunSubRewards
from .gsm_8k_environment import Gsm8KEnvironment
from .http_environment_spec import HttpEnvironmentSpec
from .http_environment_spec_headers_type_0 import HttpEnvironmentSpecHeadersType0
from .implicit_rewards import ImplicitRewards
from .import_mcp_server_tools import ImportMcpServerTools
from .import_mcp_server_tools_metadata_type_0 import ImportMcpServerToolsMetadataType0
from .importance_sampling_options import ImportanceSamplingOptions
from .improve_student import ImproveStudent
from .improve_student_curriculum_type_1 import ImproveStudentCurriculumType1
from .improve_student_environment_type_1 import ImproveStudentEnvironmentType1
from .improve_student_grader_type_1 import ImproveStudentGraderType1
from .improve_student_mcp_servers_type_0_item import ImproveStudentMcpServersType0Item
from .improve_student_metadata_type_0 import ImproveStudentMetadataType0
from .improve_student_method_type_0 import ImproveStudentMethodType0
from .improve_student_tools_type_0_item import ImproveStudentToolsType0Item
from .improvement_plan import ImprovementPlan
from .improvement_plan_job import ImprovementPlanJob
from .improvement_plan_method import ImprovementPlanMethod
from .improvement_plan_reading import ImprovementPlanReading
from .improvement_plan_reading_method import ImprovementPlanReadingMethod
from .job_error_body import JobErrorBody
from .job_status import JobStatus
from .json_valid_grader import JsonValidGrader
from .json_valid_grader_json_schema_type_0 import JsonValidGraderJsonSchemaType0
from .judge_message import JudgeMessage
from .judge_message_role import JudgeMessageRole
from .judge_sampling import JudgeSampling
from .keep_checkpoints import KeepCheckpoints
from .knob_explanation import KnobExplanation
from .knob_explanation_knob import KnobExplanationKnob
from .knobs import Knobs
from .knobs_auto_stop import KnobsAutoStop
from .knobs_effort import KnobsEffort
from .knobs_practice_mode import KnobsPracticeMode
from .label_model_grader import LabelModelGrader
from .label_model_grader_headers_type_0 import LabelModelGraderHeadersType0
from .label_smoothing_options import LabelSmoothingOptions
from .length_bounds_grader import LengthBoundsGrader
from .length_bounds_grader_unit import LengthBoundsGraderUnit
from .limit_stops_rule import LimitStopsRule
from .limit_stops_rule_action import LimitStopsRuleAction
from .line_pair import LinePair
from .list_audit_logs_event_types_type_0_item import ListAuditLogsEventTypesType0Item
from .list_chat_completions_order import ListChatCompletionsOrder
from .list_evals_order import ListEvalsOrder
from .list_evals_order_by import ListEvalsOrderBy
from .list_feedback_type_type_0 import ListFeedbackTypeType0
from .list_files_order import ListFilesOrder
from .list_fine_tuning_checkpoint_permissions_order import ListFineTuningCheckpointPermissionsOrder
from .list_fine_tuning_job_metrics_split_type_0 import ListFineTuningJobMetricsSplitType0
from .list_fine_tuning_job_rollouts_order import ListFineTuningJobRolloutsOrder
from .list_fine_tuning_job_rollouts_order_by import ListFineTuningJobRolloutsOrderBy
from .list_fine_tuning_job_rollouts_split_type_0 import ListFineTuningJobRolloutsSplitType0
from .list_project_api_keys_owner_project_access_type_0 import ListProjectApiKeysOwnerProjectAccessType0
from .liveness_response_liveness import LivenessResponseLiveness
from .llm_judge_environment import LlmJudgeEnvironment
from .llm_judge_environment_headers_type_0 import LlmJudgeEnvironmentHeadersType0
from .llm_judge_grader import LlmJudgeGrader
from .llm_judge_grader_headers_type_0 import LlmJudgeGraderHeadersType0
from .logprobs import Logprobs
from .max_steps_rule import MaxStepsRule
from .max_steps_rule_action import MaxStepsRuleAction
from .max_time_rule import MaxTimeRule
from .max_time_rule_action import MaxTimeRuleAction
from .mcp_listing import McpListing
from .mcp_listing_summary import McpListingSummary
from .mcp_resource import McpResource
from .mcp_server_spec import McpServerSpec
from .mcp_server_spec_headers_type_0 import McpServerSpecHeadersType0
from .mcp_server_test import McpServerTest
from .mcp_tool import McpTool
from .method import Method
from .method_type import MethodType
from .mismatch_options import MismatchOptions
from .mlflow import Mlflow
from .mlflow_integration import MlflowIntegration
from .mlflow_tags_type_0 import MlflowTagsType0
from .model import Model
from .model_export_deleted import ModelExportDeleted
from .model_export_object import ModelExportObject
from .model_export_object_stage_type_0 import ModelExportObjectStageType0
from .model_list import ModelList
from .model_usage import ModelUsage
from .multi_grader import MultiGrader
from .multi_grader_graders import MultiGraderGraders
from .new_service_account import NewServiceAccount
from .new_service_account_role import NewServiceAccountRole
from .not_ready import NotReady
from .not_ready_parts import NotReadyParts
from .nothing_to_learn_options import NothingToLearnOptions
from .nothing_to_learn_options_action import NothingToLearnOptionsAction
from .nothing_trained_rule import NothingTrainedRule
from .nothing_trained_rule_action import NothingTrainedRuleAction
from .objective_options import ObjectiveOptions
from .output_item_object import OutputItemObject
from .output_item_object_datasource_item import OutputItemObjectDatasourceItem
from .output_item_object_results_item import OutputItemObjectResultsItem
from .output_item_object_sample import OutputItemObjectSample
from .output_item_object_status import OutputItemObjectStatus
from .outside import Outside
from .outside_knob_type_0 import OutsideKnobType0
from .over_all import OverAll
from .overlap import Overlap
from .overlong_options import OverlongOptions
from .owned_by_service_account import OwnedByServiceAccount
from .owned_by_user import OwnedByUser
from .owner_service_account import OwnerServiceAccount
from .owner_user import OwnerUser
from .page_admin_key_object import PageAdminKeyObject
from .page_audit_log_entry import PageAuditLogEntry
from .page_curriculum import PageCurriculum
from .page_curve import PageCurve
from .page_environment import PageEnvironment
from .page_eval_object import PageEvalObject
from .page_eval_run_object import PageEvalRunObject
from .page_feedback_build_object import PageFeedbackBuildObject
from .page_feedback_object import PageFeedbackObject
from .page_file_object import PageFileObject
from .page_fine_tuning_job import PageFineTuningJob
from .page_fine_tuning_job_checkpoint import PageFineTuningJobCheckpoint
from .page_fine_tuning_job_event import PageFineTuningJobEvent
from .page_model_export_object import PageModelExportObject
from .page_output_item_object import PageOutputItemObject
from .page_permission_object import PagePermissionObject
from .page_project_key_object import PageProjectKeyObject
from .page_project_object import PageProjectObject
from .page_recipe import PageRecipe
from .page_registered_grader import PageRegisteredGrader
from .page_rollout import PageRollout
from .page_service_account_object import PageServiceAccountObject
from .page_skill_object import PageSkillObject
from .page_stored_chat_completion import PageStoredChatCompletion
from .page_stored_chat_message import PageStoredChatMessage
from .page_student_object import PageStudentObject
from .page_tool import PageTool
from .page_webhook_delivery_object import PageWebhookDeliveryObject
from .page_webhook_endpoint_object import PageWebhookEndpointObject
from .parse_errors_rule import ParseErrorsRule
from .parse_errors_rule_action import ParseErrorsRuleAction
from .part_object import PartObject
from .part_object_status import PartObjectStatus
from .permission_object import PermissionObject
from .plan_estimate import PlanEstimate
from .plan_knobs import PlanKnobs
from .plan_knobs_auto_stop_type_0 import PlanKnobsAutoStopType0
from .plan_knobs_effort_type_0 import PlanKnobsEffortType0
from .plan_knobs_practice_mode_type_0 import PlanKnobsPracticeModeType0
from .plateau_rule import PlateauRule
from .plateau_rule_action import PlateauRuleAction
from .point import Point
from .ppo_options import PpoOptions
from .preference_stop_options import PreferenceStopOptions
from .product_mask import ProductMask
from .project_key_deleted import ProjectKeyDeleted
from .project_key_object import ProjectKeyObject
from .project_key_object_owner_project_access import ProjectKeyObjectOwnerProjectAccess
from .project_object import ProjectObject
from .project_object_status import ProjectObjectStatus
from .promote_skill import PromoteSkill
from .prompt_tokens_details import PromptTokensDetails
from .propose_skill import ProposeSkill
from .python_grader import PythonGrader
from .readiness import Readiness
from .readiness_parts import ReadinessParts
from .readiness_status import ReadinessStatus
from .recipe import Recipe
from .recipe_details import RecipeDetails
from .recipe_details_method import RecipeDetailsMethod
from .recipe_details_options import RecipeDetailsOptions
from .recipe_method import RecipeMethod
from .recipe_options import RecipeOptions
from .recipe_rows import RecipeRows
from .recipe_rows_training_item import RecipeRowsTrainingItem
from .recipe_rows_validation_item import RecipeRowsValidationItem
from .recipe_source import RecipeSource
from .regex_grader import RegexGrader
from .registered_grader import RegisteredGrader
from .registered_grader_grader import RegisteredGraderGrader
from .registered_grader_metadata_type_0 import RegisteredGraderMetadataType0
from .registered_reference import RegisteredReference
from .registry_warning import RegistryWarning
from .regression import Regression
from .regression_rows import RegressionRows
from .reinforcement_body import ReinforcementBody
from .reinforcement_body_response_format_type_0 import ReinforcementBodyResponseFormatType0
from .reinforcement_hyperparameters import ReinforcementHyperparameters
from .reinforcement_hyperparameters_reasoning_effort_type_0 import ReinforcementHyperparametersReasoningEffortType0
from .reinforcement_stop_options import ReinforcementStopOptions
from .report import Report
from .report_components_type_0 import ReportComponentsType0
from .report_ended_early_type_0 import ReportEndedEarlyType0
from .report_wins_by_type_0 import ReportWinsByType0
from .reproducibility import Reproducibility
from .result_counts_body import ResultCountsBody
from .resume_fine_tuning_job import ResumeFineTuningJob
from .reward_comparison import RewardComparison
from .reward_comparison_components import RewardComparisonComponents
from .roll_back_skill import RollBackSkill
from .rollout import Rollout
from .rollout_components import RolloutComponents
from .rollout_split import RolloutSplit
from .rollout_trace import RolloutTrace
from .rotate_webhook_secret import RotateWebhookSecret
from .run_curriculum_test import RunCurriculumTest
from .run_environment_test import RunEnvironmentTest
from .run_environment_test_task_type_0 import RunEnvironmentTestTaskType0
from .run_grader_request import RunGraderRequest
from .run_grader_request_item_type_0 import RunGraderRequestItemType0
from .run_mcp_server_test import RunMcpServerTest
from .run_mcp_server_test_arguments_type_0 import RunMcpServerTestArgumentsType0
from .run_registered_grader import RunRegisteredGrader
from .run_registered_grader_item_type_0 import RunRegisteredGraderItemType0
from .run_tool_request import RunToolRequest
from .run_tool_request_headers_type_0 import RunToolRequestHeadersType0
from .run_tool_request_item_type_0 import RunToolRequestItemType0
from .run_tool_test import RunToolTest
from .run_tool_test_arguments_type_0 import RunToolTestArgumentsType0
from .run_tool_test_item_type_0 import RunToolTestItemType0
from .sample_parts import SampleParts
from .sample_parts_output_tools_type_0_item import SamplePartsOutputToolsType0Item
from .sample_parts_tool_calls_type_0_item import SamplePartsToolCallsType0Item
from .sample_parts_turns_type_0_item import SamplePartsTurnsType0Item
from .scenario_model import ScenarioModel
from .scenario_model_headers_type_0 import ScenarioModelHeadersType0
from .score_bin import ScoreBin
from .score_model_grader import ScoreModelGrader
from .score_model_grader_headers_type_0 import ScoreModelGraderHeadersType0
from .score_spread import ScoreSpread
from .service_account_deleted import ServiceAccountDeleted
from .service_account_key import ServiceAccountKey
from .service_account_object import ServiceAccountObject
from .service_account_object_role import ServiceAccountObjectRole
from .setting import Setting
from .signing_secret import SigningSecret
from .skill_comparison import SkillComparison
from .skill_object import SkillObject
from .skill_status import SkillStatus
from .split_test import SplitTest
from .split_test_tools import SplitTestTools
from .stop_options import StopOptions
from .stop_reason import StopReason
from .stored_chat_completion import StoredChatCompletion
from .stored_chat_completion_metadata_type_0 import StoredChatCompletionMetadataType0
from .stored_chat_completion_tools_type_0_item import StoredChatCompletionToolsType0Item
from .stored_chat_message import StoredChatMessage
from .stored_chat_message_content_parts_type_0_item import StoredChatMessageContentPartsType0Item
from .stored_chat_message_tool_calls_type_0_item import StoredChatMessageToolCallsType0Item
from .streamed_job import StreamedJob
from .streamed_job_event import StreamedJobEvent
from .streamed_job_event_data_type_0 import StreamedJobEventDataType0
from .streamed_job_event_level import StreamedJobEventLevel
from .streamed_job_event_type import StreamedJobEventType
from .streamed_point import StreamedPoint
from .streamed_point_split import StreamedPointSplit
from .streaming_options import StreamingOptions
from .string_check_grader import StringCheckGrader
from .string_check_grader_operation import StringCheckGraderOperation
from .student_chat import StudentChat
from .student_chat_logit_bias_type_0 import StudentChatLogitBiasType0
from .student_chat_metadata_type_0 import StudentChatMetadataType0
from .student_chat_prompt_cache_options_type_0 import StudentChatPromptCacheOptionsType0
from .student_chat_reasoning_effort_type_0 import StudentChatReasoningEffortType0
from .student_chat_service_tier_type_0 import StudentChatServiceTierType0
from .student_chat_tool_choice_type_0 import StudentChatToolChoiceType0
from .student_chat_verbosity_type_0 import StudentChatVerbosityType0
from .student_deleted import StudentDeleted
from .student_improvement import StudentImprovement
from .student_object import StudentObject
from .supervised_hyperparameters import SupervisedHyperparameters
from .supervised_method import SupervisedMethod
from .supervised_method_train_on_type_0 import SupervisedMethodTrainOnType0
from .sync_options import SyncOptions
from .target_rule import TargetRule
from .target_rule_action import TargetRuleAction
from .tensorboard import Tensorboard
from .tensorboard_integration import TensorboardIntegration
from .test_webhook_endpoint import TestWebhookEndpoint
from .test_webhook_endpoint_event_type import TestWebhookEndpointEventType
from .text_part import TextPart
from .text_part_type import TextPartType
from .text_similarity_grader import TextSimilarityGrader
from .text_similarity_grader_evaluation_metric import TextSimilarityGraderEvaluationMetric
from .threshold_failures import ThresholdFailures
from .token_growth_rule import TokenGrowthRule
from .token_growth_rule_action import TokenGrowthRuleAction
from .token_lengths import TokenLengths
from .token_logprob import TokenLogprob
from .tool import Tool
from .tool_call_collapse_rule import ToolCallCollapseRule
from .tool_call_collapse_rule_action import ToolCallCollapseRuleAction
from .tool_call_error import ToolCallError
from .tool_call_grader import ToolCallGrader
from .tool_call_grader_comparators import ToolCallGraderComparators
from .tool_call_grader_comparators_additional_property import ToolCallGraderComparatorsAdditionalProperty
from .tool_call_grader_extra_calls import ToolCallGraderExtraCalls
from .tool_call_grader_source import ToolCallGraderSource
from .tool_check import ToolCheck
from .tool_check_status import ToolCheckStatus
from .tool_headers_type_0 import ToolHeadersType0
from .tool_metadata_type_0 import ToolMetadataType0
from .tool_parameters_type_0 import ToolParametersType0
from .tool_run import ToolRun
from .tool_spec import ToolSpec
from .tool_spec_headers_type_0 import ToolSpecHeadersType0
from .tool_test import ToolTest
from .top_logprob import TopLogprob
from .trackio import Trackio
from .trackio_integration import TrackioIntegration
from .truncation import Truncation
from .truncation_level import TruncationLevel
from .update_chat_completion import UpdateChatCompletion
from .update_chat_completion_metadata_type_0 import UpdateChatCompletionMetadataType0
from .update_curriculum import UpdateCurriculum
from .update_curriculum_metadata_type_0 import UpdateCurriculumMetadataType0
from .update_curriculum_training_type_0_item import UpdateCurriculumTrainingType0Item
from .update_curriculum_validation_type_0_item import UpdateCurriculumValidationType0Item
from .update_environment import UpdateEnvironment
from .update_environment_headers_type_0 import UpdateEnvironmentHeadersType0
from .update_environment_metadata_type_0 import UpdateEnvironmentMetadataType0
from .update_eval import UpdateEval
from .update_eval_metadata_type_0 import UpdateEvalMetadataType0
from .update_grader import UpdateGrader
from .update_grader_metadata_type_0 import UpdateGraderMetadataType0
from .update_project import UpdateProject
from .update_project_key import UpdateProjectKey
from .update_service_account import UpdateServiceAccount
from .update_service_account_role_type_0 import UpdateServiceAccountRoleType0
from .update_student import UpdateStudent
from .update_tool import UpdateTool
from .update_tool_headers_type_0 import UpdateToolHeadersType0
from .update_tool_metadata_type_0 import UpdateToolMetadataType0
from .update_tool_parameters_type_0 import UpdateToolParametersType0
from .update_webhook_endpoint import UpdateWebhookEndpoint
from .update_webhook_endpoint_event_types_type_0_item import UpdateWebhookEndpointEventTypesType0Item
from .upload_object import UploadObject
from .upload_object_status import UploadObjectStatus
from .upload_part import UploadPart
from .usage_bucket_object_completions_usage import UsageBucketObjectCompletionsUsage
from .usage_bucket_object_costs_result import UsageBucketObjectCostsResult
from .usage_bucket_object_fine_tuning_usage import UsageBucketObjectFineTuningUsage
from .usage_completions_bucket_width import UsageCompletionsBucketWidth
from .usage_completions_group_by_type_0_item import UsageCompletionsGroupByType0Item
from .usage_costs_group_by_type_0_item import UsageCostsGroupByType0Item
from .usage_fine_tuning_bucket_width import UsageFineTuningBucketWidth
from .usage_fine_tuning_group_by_type_0_item import UsageFineTuningGroupByType0Item
from .usage_metrics import UsageMetrics
from .usage_metrics_model_graders import UsageMetricsModelGraders
from .usage_metrics_model_graders_additional_property import UsageMetricsModelGradersAdditionalProperty
from .usage_page_object_completions_usage import UsagePageObjectCompletionsUsage
from .usage_page_object_fine_tuning_usage import UsagePageObjectFineTuningUsage
from .validate_grader_request import ValidateGraderRequest
from .validated_grader import ValidatedGrader
from .validated_grader_grader import ValidatedGraderGrader
from .wandb import Wandb
from .wandb_integration import WandbIntegration
from .webhook_delivery_object import WebhookDeliveryObject
from .webhook_endpoint_deleted import WebhookEndpointDeleted
from .webhook_endpoint_object import WebhookEndpointObject
from .webhook_endpoint_test_result import WebhookEndpointTestResult
from .webhook_endpoint_with_secret import WebhookEndpointWithSecret
from .webhook_event_type_list import WebhookEventTypeList
from .zero_variance_rule import ZeroVarianceRule
from .zero_variance_rule_action import ZeroVarianceRuleAction

__all__ = (
    "AddUploadPartBody",
    "AdminApiKeysListOrder",
    "AdminKeyDeleted",
    "AdminKeyObject",
    "AdminKeyOwner",
    "AdminKeyWithValue",
    "AdvantageOptions",
    "AdvantageOptionsType",
    "AiJudgeGrader",
    "AiJudgeGraderHeadersType0",
    "AllowedTools",
    "ArithmeticEnvironment",
    "ArithmeticEnvironmentOperationsItem",
    "AsyncOptions",
    "AuditActor",
    "AuditActorAccount",
    "AuditActorKey",
    "AuditActorKeyType",
    "AuditActorSession",
    "AuditActorType",
    "AuditActorUser",
    "AuditLogEntry",
    "AuditProject",
    "AutoGrader",
    "BradleyTerryOptions",
    "CalibrateGrader",
    "CalibrationProbe",
    "CalibrationProbeName",
    "CalibrationSample",
    "CalibrationSampleItemType0",
    "ChatAssistantMessage",
    "ChatChoice",
    "ChatChoiceFinishReason",
    "ChatChunkChoice",
    "ChatChunkChoiceFinishReasonType0",
    "ChatCompletion",
    "ChatCompletionChunk",
    "ChatCompletionDeleted",
    "ChatCompletionRequest",
    "ChatCompletionRequestLogitBiasType0",
    "ChatCompletionRequestMetadataType0",
    "ChatCompletionRequestPromptCacheOptionsType0",
    "ChatCompletionRequestReasoningEffortType0",
    "ChatCompletionRequestServiceTierType0",
    "ChatCompletionRequestToolChoiceType0",
    "ChatCompletionRequestVerbosityType0",
    "ChatDelta",
    "ChatFunction",
    "ChatFunctionCall",
    "ChatFunctionCallDelta",
    "ChatFunctionName",
    "ChatFunctionParametersType0",
    "ChatJsonSchema",
    "ChatJsonSchemaSchema",
    "ChatMessage",
    "ChatNamedTool",
    "ChatRefusalPart",
    "ChatRequestFunctionCall",
    "ChatRequestToolCall",
    "ChatResponseFormat",
    "ChatResponseFormatType",
    "ChatStreamOptions",
    "ChatSystemMessage",
    "ChatSystemMessageRole",
    "ChatTextPart",
    "ChatTool",
    "ChatToolCall",
    "ChatToolCallDelta",
    "ChatToolCallError",
    "ChatToolMessage",
    "ChatUsage",
    "ChatUserMessage",
    "ChosenRewardRule",
    "ChosenRewardRuleAction",
    "CispoOptions",
    "CodeExecutionEnvironment",
    "CodeExecutionGrader",
    "Comparison",
    "CompileImprovementPlan",
    "CompileImprovementPlanCurriculumType1",
    "CompileImprovementPlanEnvironmentType1",
    "CompileImprovementPlanGraderType1",
    "CompileImprovementPlanMcpServersType0Item",
    "CompileImprovementPlanMetadataType0",
    "CompileImprovementPlanMethodType0",
    "CompileImprovementPlanToolsType0Item",
    "CompleteUpload",
    "CompletionsUsage",
    "CompletionTokensDetails",
    "ComponentComparison",
    "ContainsGrader",
    "ContainsGraderMatch",
    "CostAmount",
    "CostsPageObject",
    "CostsResult",
    "CostsResultLineItemType0",
    "CostsResultQuantityUnitType0",
    "CreateAdminKey",
    "CreateCurriculum",
    "CreateCurriculumMetadataType0",
    "CreateCurriculumTrainingType0Item",
    "CreateCurriculumValidationType0Item",
    "CreateEnvironment",
    "CreateEnvironmentHeadersType0",
    "CreateEnvironmentMetadataType0",
    "CreateEval",
    "CreateEvalMetadataType0",
    "CreateEvalRun",
    "CreateEvalRunDataSource",
    "CreateEvalRunMetadataType0",
    "CreateEvalTestingCriteriaItem",
    "CreateFeedback",
    "CreateFeedbackBuild",
    "CreateFeedbackBuildMethod",
    "CreateFeedbackChosenType1",
    "CreateFeedbackCorrectionType1",
    "CreateFeedbackMessagesType0Item",
    "CreateFeedbackRatingType0",
    "CreateFeedbackRejectedType1",
    "CreateFeedbackToolsType0Item",
    "CreateFeedbackType",
    "CreateFileBody",
    "CreateFileBodyExpiresAfteranchor",
    "CreateFileBodyPurpose",
    "CreateFineTuningJob",
    "CreateFineTuningJobCurriculumType1",
    "CreateFineTuningJobHyperparametersType0",
    "CreateFineTuningJobMetadataType0",
    "CreateGrader",
    "CreateGraderMetadataType0",
    "CreateModelExport",
    "CreatePermissions",
    "CreateProject",
    "CreateServiceAccount",
    "CreateServiceAccountKey",
    "CreateStudent",
    "CreateTool",
    "CreateToolHeadersType0",
    "CreateToolMetadataType0",
    "CreateToolParametersType0",
    "CreateUpload",
    "CreateWebhookEndpoint",
    "CreateWebhookEndpointEventTypesItem",
    "Criterion",
    "CriterionResult",
    "CrossEntropyOptions",
    "Curriculum",
    "CurriculumMetadataType0",
    "CurriculumTest",
    "Curve",
    "CurveSplit",
    "DataSourceConfig",
    "DataSourceConfigItemSchemaType0",
    "DataSourceConfigType",
    "Deleted",
    "DeliveryError",
    "DeliveryStatus",
    "DpoHyperparameters",
    "DpoMethod",
    "DpoOptions",
    "DpoOptionsVariant",
    "DroOptions",
    "DroppedFeedback",
    "DroppedFeedbackReason",
    "EndpointCheck",
    "EndpointGrader",
    "EndpointGraderHeadersType0",
    "EndUserRemoval",
    "EntropyRiseRule",
    "EntropyRiseRuleAction",
    "EntropyRule",
    "EntropyRuleAction",
    "Environment",
    "EnvironmentCheck",
    "EnvironmentCheckStatus",
    "EnvironmentExchange",
    "EnvironmentExchangeSent",
    "EnvironmentGrader",
    "EnvironmentHeadersType0",
    "EnvironmentMetadataType0",
    "EnvironmentTestCall",
    "EnvironmentTestResult",
    "ErrorBody",
    "ErrorEnvelope",
    "Estimate",
    "EstimateBasis",
    "EvalDeleted",
    "EvalObject",
    "EvalObjectDataSourceConfig",
    "EvalObjectMetadataType0",
    "EvalObjectTestingCriteriaItem",
    "EvalRunCanceledWebhookEvent",
    "EvalRunDeleted",
    "EvalRunFailedWebhookEvent",
    "EvalRunObject",
    "EvalRunObjectDataSource",
    "EvalRunObjectErrorType0",
    "EvalRunObjectMetadataType0",
    "EvalRunStatus",
    "EvalRunSucceededWebhookEvent",
    "EventSubject",
    "ExactMatchGrader",
    "ExactMatchGraderUnicode",
    "ExpiresAfter",
    "ExplainImprovementPlan",
    "ExplainImprovementPlanJobType0",
    "ExportAuditLogsEventTypesType0Item",
    "ExportError",
    "ExportFineTuningJobMetricsFormat",
    "ExportFineTuningJobMetricsSplitType0",
    "ExportFineTuningJobRolloutsFormat",
    "ExportFineTuningJobRolloutsSplitType0",
    "ExportStatus",
    "FailureClass",
    "Fault",
    "FaultSeverity",
    "FeedbackBuildObject",
    "FeedbackBuildObjectFindings",
    "FeedbackBuildObjectMethod",
    "FeedbackFinding",
    "FeedbackFindingKind",
    "FeedbackFindings",
    "FeedbackObject",
    "FeedbackObjectBetterType0",
    "FeedbackObjectMessagesType0Item",
    "FeedbackObjectRatingType0",
    "FeedbackObjectToolsType0Item",
    "FeedbackObjectType",
    "FeedbackObjectWorseType0",
    "FeedbackSource",
    "FeedbackSources",
    "FileObject",
    "FileSummary",
    "FileSummaryTools",
    "FineTuningJob",
    "FineTuningJobCancelledWebhookEvent",
    "FineTuningJobCheckpoint",
    "FineTuningJobCheckpointMetrics",
    "FineTuningJobEndedEarlyType0",
    "FineTuningJobErrorType1",
    "FineTuningJobEvent",
    "FineTuningJobEventDataType0",
    "FineTuningJobEventLevel",
    "FineTuningJobEventType",
    "FineTuningJobFailedWebhookEvent",
    "FineTuningJobHyperparametersType0",
    "FineTuningJobIntegrationsItem",
    "FineTuningJobMetadataType0",
    "FineTuningJobMethod",
    "FineTuningJobSucceededWebhookEvent",
    "FineTuningJobValidation",
    "FineTuningUsage",
    "FocalOptions",
    "FormatGrader",
    "GapRule",
    "GapRuleAction",
    "GateRuns",
    "GeneratedCurriculum",
    "GeneratedCurriculumTrainingItem",
    "GeneratedCurriculumValidationItem",
    "GeneratedScenarios",
    "GenerateScenarios",
    "GenerateScenariosToolsItem",
    "GeometricMeanMask",
    "GetChatCompletionMessagesOrder",
    "GetEvalRunOutputItemsOrder",
    "GetEvalRunOutputItemsStatusType0",
    "GetEvalRunsOrder",
    "GraderCalibration",
    "GraderChoice",
    "GraderChoiceGrader",
    "GraderErrorFlags",
    "GraderErrorsRule",
    "GraderErrorsRuleAction",
    "GraderRun",
    "GraderRunMetadata",
    "GraderRunMetadataReasons",
    "GraderRunMetadataScores",
    "GraderRunModelGraderTokenUsagePerModel",
    "GraderRunModelGraderTokenUsagePerModelAdditionalProperty",
    "GraderRunSubRewards",
    "Gsm8KEnvironment",
    "HttpEnvironmentSpec",
    "HttpEnvironmentSpecHeadersType0",
    "ImplicitRewards",
    "ImportanceSamplingOptions",
    "ImportMcpServerTools",
    "ImportMcpServerToolsMetadataType0",
    "ImprovementPlan",
    "ImprovementPlanJob",
    "ImprovementPlanMethod",
    "ImprovementPlanReading",
    "ImprovementPlanReadingMethod",
    "ImproveStudent",
    "ImproveStudentCurriculumType1",
    "ImproveStudentEnvironmentType1",
    "ImproveStudentGraderType1",
    "ImproveStudentMcpServersType0Item",
    "ImproveStudentMetadataType0",
    "ImproveStudentMethodType0",
    "ImproveStudentToolsType0Item",
    "JobErrorBody",
    "JobStatus",
    "JsonValidGrader",
    "JsonValidGraderJsonSchemaType0",
    "JudgeMessage",
    "JudgeMessageRole",
    "JudgeSampling",
    "KeepCheckpoints",
    "KnobExplanation",
    "KnobExplanationKnob",
    "Knobs",
    "KnobsAutoStop",
    "KnobsEffort",
    "KnobsPracticeMode",
    "LabelModelGrader",
    "LabelModelGraderHeadersType0",
    "LabelSmoothingOptions",
    "LengthBoundsGrader",
    "LengthBoundsGraderUnit",
    "LimitStopsRule",
    "LimitStopsRuleAction",
    "LinePair",
    "ListAuditLogsEventTypesType0Item",
    "ListChatCompletionsOrder",
    "ListEvalsOrder",
    "ListEvalsOrderBy",
    "ListFeedbackTypeType0",
    "ListFilesOrder",
    "ListFineTuningCheckpointPermissionsOrder",
    "ListFineTuningJobMetricsSplitType0",
    "ListFineTuningJobRolloutsOrder",
    "ListFineTuningJobRolloutsOrderBy",
    "ListFineTuningJobRolloutsSplitType0",
    "ListProjectApiKeysOwnerProjectAccessType0",
    "LivenessResponseLiveness",
    "LlmJudgeEnvironment",
    "LlmJudgeEnvironmentHeadersType0",
    "LlmJudgeGrader",
    "LlmJudgeGraderHeadersType0",
    "Logprobs",
    "MaxStepsRule",
    "MaxStepsRuleAction",
    "MaxTimeRule",
    "MaxTimeRuleAction",
    "McpListing",
    "McpListingSummary",
    "McpResource",
    "McpServerSpec",
    "McpServerSpecHeadersType0",
    "McpServerTest",
    "McpTool",
    "Method",
    "MethodType",
    "MismatchOptions",
    "Mlflow",
    "MlflowIntegration",
    "MlflowTagsType0",
    "Model",
    "ModelExportDeleted",
    "ModelExportObject",
    "ModelExportObjectStageType0",
    "ModelList",
    "ModelUsage",
    "MultiGrader",
    "MultiGraderGraders",
    "NewServiceAccount",
    "NewServiceAccountRole",
    "NothingToLearnOptions",
    "NothingToLearnOptionsAction",
    "NothingTrainedRule",
    "NothingTrainedRuleAction",
    "NotReady",
    "NotReadyParts",
    "ObjectiveOptions",
    "OutputItemObject",
    "OutputItemObjectDatasourceItem",
    "OutputItemObjectResultsItem",
    "OutputItemObjectSample",
    "OutputItemObjectStatus",
    "Outside",
    "OutsideKnobType0",
    "OverAll",
    "Overlap",
    "OverlongOptions",
    "OwnedByServiceAccount",
    "OwnedByUser",
    "OwnerServiceAccount",
    "OwnerUser",
    "PageAdminKeyObject",
    "PageAuditLogEntry",
    "PageCurriculum",
    "PageCurve",
    "PageEnvironment",
    "PageEvalObject",
    "PageEvalRunObject",
    "PageFeedbackBuildObject",
    "PageFeedbackObject",
    "PageFileObject",
    "PageFineTuningJob",
    "PageFineTuningJobCheckpoint",
    "PageFineTuningJobEvent",
    "PageModelExportObject",
    "PageOutputItemObject",
    "PagePermissionObject",
    "PageProjectKeyObject",
    "PageProjectObject",
    "PageRecipe",
    "PageRegisteredGrader",
    "PageRollout",
    "PageServiceAccountObject",
    "PageSkillObject",
    "PageStoredChatCompletion",
    "PageStoredChatMessage",
    "PageStudentObject",
    "PageTool",
    "PageWebhookDeliveryObject",
    "PageWebhookEndpointObject",
    "ParseErrorsRule",
    "ParseErrorsRuleAction",
    "PartObject",
    "PartObjectStatus",
    "PermissionObject",
    "PlanEstimate",
    "PlanKnobs",
    "PlanKnobsAutoStopType0",
    "PlanKnobsEffortType0",
    "PlanKnobsPracticeModeType0",
    "PlateauRule",
    "PlateauRuleAction",
    "Point",
    "PpoOptions",
    "PreferenceStopOptions",
    "ProductMask",
    "ProjectKeyDeleted",
    "ProjectKeyObject",
    "ProjectKeyObjectOwnerProjectAccess",
    "ProjectObject",
    "ProjectObjectStatus",
    "PromoteSkill",
    "PromptTokensDetails",
    "ProposeSkill",
    "PythonGrader",
    "Readiness",
    "ReadinessParts",
    "ReadinessStatus",
    "Recipe",
    "RecipeDetails",
    "RecipeDetailsMethod",
    "RecipeDetailsOptions",
    "RecipeMethod",
    "RecipeOptions",
    "RecipeRows",
    "RecipeRowsTrainingItem",
    "RecipeRowsValidationItem",
    "RecipeSource",
    "RegexGrader",
    "RegisteredGrader",
    "RegisteredGraderGrader",
    "RegisteredGraderMetadataType0",
    "RegisteredReference",
    "RegistryWarning",
    "Regression",
    "RegressionRows",
    "ReinforcementBody",
    "ReinforcementBodyResponseFormatType0",
    "ReinforcementHyperparameters",
    "ReinforcementHyperparametersReasoningEffortType0",
    "ReinforcementStopOptions",
    "Report",
    "ReportComponentsType0",
    "ReportEndedEarlyType0",
    "ReportWinsByType0",
    "Reproducibility",
    "ResultCountsBody",
    "ResumeFineTuningJob",
    "RewardComparison",
    "RewardComparisonComponents",
    "RollBackSkill",
    "Rollout",
    "RolloutComponents",
    "RolloutSplit",
    "RolloutTrace",
    "RotateWebhookSecret",
    "RunCurriculumTest",
    "RunEnvironmentTest",
    "RunEnvironmentTestTaskType0",
    "RunGraderRequest",
    "RunGraderRequestItemType0",
    "RunMcpServerTest",
    "RunMcpServerTestArgumentsType0",
    "RunRegisteredGrader",
    "RunRegisteredGraderItemType0",
    "RunToolRequest",
    "RunToolRequestHeadersType0",
    "RunToolRequestItemType0",
    "RunToolTest",
    "RunToolTestArgumentsType0",
    "RunToolTestItemType0",
    "SampleParts",
    "SamplePartsOutputToolsType0Item",
    "SamplePartsToolCallsType0Item",
    "SamplePartsTurnsType0Item",
    "ScenarioModel",
    "ScenarioModelHeadersType0",
    "ScoreBin",
    "ScoreModelGrader",
    "ScoreModelGraderHeadersType0",
    "ScoreSpread",
    "ServiceAccountDeleted",
    "ServiceAccountKey",
    "ServiceAccountObject",
    "ServiceAccountObjectRole",
    "Setting",
    "SigningSecret",
    "SkillComparison",
    "SkillObject",
    "SkillStatus",
    "SplitTest",
    "SplitTestTools",
    "StopOptions",
    "StopReason",
    "StoredChatCompletion",
    "StoredChatCompletionMetadataType0",
    "StoredChatCompletionToolsType0Item",
    "StoredChatMessage",
    "StoredChatMessageContentPartsType0Item",
    "StoredChatMessageToolCallsType0Item",
    "StreamedJob",
    "StreamedJobEvent",
    "StreamedJobEventDataType0",
    "StreamedJobEventLevel",
    "StreamedJobEventType",
    "StreamedPoint",
    "StreamedPointSplit",
    "StreamingOptions",
    "StringCheckGrader",
    "StringCheckGraderOperation",
    "StudentChat",
    "StudentChatLogitBiasType0",
    "StudentChatMetadataType0",
    "StudentChatPromptCacheOptionsType0",
    "StudentChatReasoningEffortType0",
    "StudentChatServiceTierType0",
    "StudentChatToolChoiceType0",
    "StudentChatVerbosityType0",
    "StudentDeleted",
    "StudentImprovement",
    "StudentObject",
    "SupervisedHyperparameters",
    "SupervisedMethod",
    "SupervisedMethodTrainOnType0",
    "SyncOptions",
    "TargetRule",
    "TargetRuleAction",
    "Tensorboard",
    "TensorboardIntegration",
    "TestWebhookEndpoint",
    "TestWebhookEndpointEventType",
    "TextPart",
    "TextPartType",
    "TextSimilarityGrader",
    "TextSimilarityGraderEvaluationMetric",
    "ThresholdFailures",
    "TokenGrowthRule",
    "TokenGrowthRuleAction",
    "TokenLengths",
    "TokenLogprob",
    "Tool",
    "ToolCallCollapseRule",
    "ToolCallCollapseRuleAction",
    "ToolCallError",
    "ToolCallGrader",
    "ToolCallGraderComparators",
    "ToolCallGraderComparatorsAdditionalProperty",
    "ToolCallGraderExtraCalls",
    "ToolCallGraderSource",
    "ToolCheck",
    "ToolCheckStatus",
    "ToolHeadersType0",
    "ToolMetadataType0",
    "ToolParametersType0",
    "ToolRun",
    "ToolSpec",
    "ToolSpecHeadersType0",
    "ToolTest",
    "TopLogprob",
    "Trackio",
    "TrackioIntegration",
    "Truncation",
    "TruncationLevel",
    "UpdateChatCompletion",
    "UpdateChatCompletionMetadataType0",
    "UpdateCurriculum",
    "UpdateCurriculumMetadataType0",
    "UpdateCurriculumTrainingType0Item",
    "UpdateCurriculumValidationType0Item",
    "UpdateEnvironment",
    "UpdateEnvironmentHeadersType0",
    "UpdateEnvironmentMetadataType0",
    "UpdateEval",
    "UpdateEvalMetadataType0",
    "UpdateGrader",
    "UpdateGraderMetadataType0",
    "UpdateProject",
    "UpdateProjectKey",
    "UpdateServiceAccount",
    "UpdateServiceAccountRoleType0",
    "UpdateStudent",
    "UpdateTool",
    "UpdateToolHeadersType0",
    "UpdateToolMetadataType0",
    "UpdateToolParametersType0",
    "UpdateWebhookEndpoint",
    "UpdateWebhookEndpointEventTypesType0Item",
    "UploadObject",
    "UploadObjectStatus",
    "UploadPart",
    "UsageBucketObjectCompletionsUsage",
    "UsageBucketObjectCostsResult",
    "UsageBucketObjectFineTuningUsage",
    "UsageCompletionsBucketWidth",
    "UsageCompletionsGroupByType0Item",
    "UsageCostsGroupByType0Item",
    "UsageFineTuningBucketWidth",
    "UsageFineTuningGroupByType0Item",
    "UsageMetrics",
    "UsageMetricsModelGraders",
    "UsageMetricsModelGradersAdditionalProperty",
    "UsagePageObjectCompletionsUsage",
    "UsagePageObjectFineTuningUsage",
    "ValidatedGrader",
    "ValidatedGraderGrader",
    "ValidateGraderRequest",
    "Wandb",
    "WandbIntegration",
    "WebhookDeliveryObject",
    "WebhookEndpointDeleted",
    "WebhookEndpointObject",
    "WebhookEndpointTestResult",
    "WebhookEndpointWithSecret",
    "WebhookEventTypeList",
    "ZeroVarianceRule",
    "ZeroVarianceRuleAction",
)

"""Descriptions of parameters by name, for the specification.

A description in the route itself takes precedence. Must not know routes.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

PARAMETERS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "admin_key_id": "Id of the admin key.",
        "after_step": "Only points of later steps.",
        "api_key_id": "Id of the key.",
        "author": "Only feedback of this author.",
        "build_id": "Id of the build.",
        "completion_id": "Id of the stored chat completion.",
        "curriculum_id": "Id of the curriculum.",
        "delivery_id": "Id of the delivery.",
        "end_user": "Only feedback about this end user.",
        "end_user_id": "Your id of the end user.",
        "eval_id": "Id of the eval.",
        "export_id": "Id of the export.",
        "feedback_id": "Id of the feedback.",
        "file_id": "Id of the file.",
        "fine_tuned_model_checkpoint": "Name of the checkpoint's model.",
        "grader_id": "Id of the grader.",
        "include_archived": "True lists archived projects too.",
        "job_id": "Id of the job.",
        "key_id": "Id of the key.",
        "limit": "Objects of a page.",
        "max_points": "Most points of a curve. Of a longer one: its ends, and between them the "
        "lowest and highest of even stretches.",
        "model": "Name of the model.",
        "name": "Name of the student.",
        "order": "Order by time of creation.",
        "output_item_id": "Id of the output item.",
        "owner_project_access": "Only keys whose project is active, or archived (`inactive`).",
        "permission_id": "Id of the permission.",
        "project_id": "Id of the project.",
        "purpose": "Only files of this purpose.",
        "recipe_id": "Id of the recipe, such as `reasoning`.",
        "rollout_id": "Id of the rollout.",
        "run_id": "Id of the eval run.",
        "service_account_id": "Id of the service account.",
        "session_id": "Id of the session of the Coach.",
        "split": "Only values of training (`train`), or of validations.",
        "step": "Only values of this step; 0 is before training.",
        "tool_id": "Id of the tool.",
        "environment_id": "Id of the environment.",
        "upload_id": "Id of the upload.",
        "webhook_endpoint_id": "Id of the webhook endpoint.",
    }
)

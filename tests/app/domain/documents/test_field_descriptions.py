import json
from typing import Any

from app.jobs.stop_options import MaxStepsRule
from app.kit.fields import COMMON_FIELDS, LEFT_OUT
from app.tools.references import ReinforcementBody
from app.tools.schemas import Tool
from app.webhooks.schemas import WebhookEndpointWithSecret
from tests.support.web.application import specification


def texts(schema: dict[str, Any]) -> dict[str, str]:
    return {name: field["description"] for name, field in schema["properties"].items()}


def test_a_field_has_the_text_under_it_in_the_class_that_has_it_last() -> None:
    found = texts(MaxStepsRule.model_json_schema())
    assert found["steps"] == "Steps after which the job ends."
    assert found["action"].startswith("The effect of the rule"), (
        "the base's, for an overridden field"
    )
    overridden = texts(ReinforcementBody.model_json_schema())["tools"]
    assert overridden.startswith("Tools that the service calls for the model: definitions, or")


def test_a_common_name_needs_no_text_and_lines_are_joined() -> None:
    found = texts(WebhookEndpointWithSecret.model_json_schema())
    assert found["created_at"] == COMMON_FIELDS["created_at"]
    assert found["signing_secret"] == "The signing secret; no later reply contains it."
    assert not any("\n" in text or "  " in text for text in found.values())


def test_a_field_that_a_reply_leaves_out_is_marked_and_not_promised() -> None:
    properties = Tool.model_json_schema(mode="serialization")["properties"]
    left_out = [name for name, field in properties.items() if LEFT_OUT in field]
    assert left_out == ["warnings", "server_label"]
    document = specification()
    assert LEFT_OUT not in json.dumps(document)
    schema = document["components"]["schemas"]["Tool"]
    assert set(schema["properties"]) - set(schema["required"]) == {"warnings", "server_label"}

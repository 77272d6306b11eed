from typing import Literal

CreateWebhookEndpointEventTypesItem = Literal['eval.run.canceled', 'eval.run.failed', 'eval.run.succeeded', 'fine_tuning.job.cancelled', 'fine_tuning.job.failed', 'fine_tuning.job.succeeded']

CREATE_WEBHOOK_ENDPOINT_EVENT_TYPES_ITEM_VALUES: set[CreateWebhookEndpointEventTypesItem] = { 'eval.run.canceled', 'eval.run.failed', 'eval.run.succeeded', 'fine_tuning.job.cancelled', 'fine_tuning.job.failed', 'fine_tuning.job.succeeded',  }

def check_create_webhook_endpoint_event_types_item(value: str) -> CreateWebhookEndpointEventTypesItem:
    if value in CREATE_WEBHOOK_ENDPOINT_EVENT_TYPES_ITEM_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {CREATE_WEBHOOK_ENDPOINT_EVENT_TYPES_ITEM_VALUES!r}")

from typing import Literal

UpdateWebhookEndpointEventTypesType0Item = Literal['eval.run.canceled', 'eval.run.failed', 'eval.run.succeeded', 'fine_tuning.job.cancelled', 'fine_tuning.job.failed', 'fine_tuning.job.succeeded']

UPDATE_WEBHOOK_ENDPOINT_EVENT_TYPES_TYPE_0_ITEM_VALUES: set[UpdateWebhookEndpointEventTypesType0Item] = { 'eval.run.canceled', 'eval.run.failed', 'eval.run.succeeded', 'fine_tuning.job.cancelled', 'fine_tuning.job.failed', 'fine_tuning.job.succeeded',  }

def check_update_webhook_endpoint_event_types_type_0_item(value: str) -> UpdateWebhookEndpointEventTypesType0Item:
    if value in UPDATE_WEBHOOK_ENDPOINT_EVENT_TYPES_TYPE_0_ITEM_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {UPDATE_WEBHOOK_ENDPOINT_EVENT_TYPES_TYPE_0_ITEM_VALUES!r}")

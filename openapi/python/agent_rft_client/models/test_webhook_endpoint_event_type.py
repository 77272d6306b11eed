from typing import Literal

TestWebhookEndpointEventType = Literal['eval.run.canceled', 'eval.run.failed', 'eval.run.succeeded', 'fine_tuning.job.cancelled', 'fine_tuning.job.failed', 'fine_tuning.job.succeeded']

TEST_WEBHOOK_ENDPOINT_EVENT_TYPE_VALUES: set[TestWebhookEndpointEventType] = { 'eval.run.canceled', 'eval.run.failed', 'eval.run.succeeded', 'fine_tuning.job.cancelled', 'fine_tuning.job.failed', 'fine_tuning.job.succeeded',  }

def check_test_webhook_endpoint_event_type(value: str) -> TestWebhookEndpointEventType:
    if value in TEST_WEBHOOK_ENDPOINT_EVENT_TYPE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {TEST_WEBHOOK_ENDPOINT_EVENT_TYPE_VALUES!r}")

"""Warnings about a new job, each the message of an event: values that change nothing."""

from app.domain.documents.walk import walk_fields
from app.domain.jobs.integrations import integrations_warning
from app.domain.jobs.jobs import NewJob
from app.domain.methods.faults import format_warning
from app.domain.methods.kinds import method_parameters
from app.domain.methods.no_effect import without_effect
from app.domain.unknown_keys import unread, unread_message


def creation_warnings(new: NewJob) -> list[str]:
    """Returns one message for each kind of warning."""
    kind = new.method.kind
    walked = walk_fields(type(new.method), new.method)
    keys = [*new.unread, *unread(walked, f"method.{kind}", method_parameters(kind))]
    found = [
        unread_message(keys) if keys else None,
        format_warning(new.method),
        *(each.message for each in without_effect(new.method, f"method.{kind}")),
        integrations_warning(new.integrations),
    ]
    return [message for message in found if message is not None]

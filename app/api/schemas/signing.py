"""The signing secret on the wire (an extension: hosted calls are not signed)."""

from typing import Literal

from app.domain.documents.described import DescribedModel


class SigningSecret(DescribedModel):
    """The secret that signs calls of tools and graders."""

    object: Literal["signing_secret"] = "signing_secret"
    secret: str
    """`whsec_…`, in the form that Standard Webhooks libraries read."""

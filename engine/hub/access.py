"""Translate the Hub's responses 401, 403 and 404 into errors for the user.

Of the Hub's headers, X-Error-Code names the kind of error, and X-Error-Message says why a 403 refused access
(huggingface_hub, `hf_raise_for_status`; the Hub's documentation, "Gated models").
"""

from collections.abc import Mapping

from engine.errors import ModelNotFound, SpecExecError
from engine.hub.errors import AccessRefused, LicenseNotAccepted, TokenNeeded


def refusal(
    status: int, headers: Mapping[str, str], repository: str, page: str, sent_token: bool
) -> SpecExecError:
    """Return the error for a response from the Hub about `repository`.

    status: 401, 403 or 404. headers: the response's headers, with case-insensitive names. page: the URL of
    the model's web page. sent_token: whether the request carried an access token.
    """
    code = headers.get("x-error-code", "")
    reason = headers.get("x-error-message", "")
    settings = page.removesuffix(repository) + "settings/tokens"
    if status == 401 and sent_token and code != "GatedRepo":
        return AccessRefused(
            "The Hub does not accept this access token.",
            f"Create a new one at {settings} and enter it.",
            settings,
        )
    if code == "GatedRepo" and not sent_token:
        return TokenNeeded(
            f"{repository} requires an account that has accepted its licence.",
            f"Accept it at {page}, make an access token at {settings} and enter it (specexec pull --token).",
            page,
        )
    if "fine-grained" in reason:
        return AccessRefused(
            f"The access token has no permission to read {repository}.",
            f"Allow it to read public gated repositories, at {settings}.",
            settings,
        )
    if "rejected" in reason:
        return AccessRefused(
            f"The authors of {repository} have rejected this account's request.",
            "Choose another model.",
            page,
        )
    if "awaiting" in reason:
        return AccessRefused(
            f"The authors of {repository} have not yet decided on this account's request.",
            f"Try again once they have; {page} shows the decision.",
            page,
        )
    if code == "GatedRepo":
        return LicenseNotAccepted(
            f"This account has not yet accepted the licence of {repository}.",
            f"Accept it at {page}, then try again.",
            page,
        )
    if status == 403:
        return AccessRefused(
            f"The Hub refuses access to {repository}.", f"See {page}, signed in to the token's account.", page
        )
    if code == "RevisionNotFound":
        return ModelNotFound(f"{repository} has no such revision.", f"Its revisions are listed at {page}.")
    return ModelNotFound(
        f"The Hub has no public repository {repository}.",
        "Check the name; a private model requires an access token (specexec pull --token).",
    )

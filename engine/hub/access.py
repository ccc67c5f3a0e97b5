"""What the Hub means by 401, 403 and 404, as a sentence and a next step.

The Hub's header X-Error-Code names the kind, X-Error-Message says which of several reasons of a 403 it is
(huggingface_hub, `hf_raise_for_status`; the Hub's documentation, "Gated models").
"""

from collections.abc import Mapping

from engine.errors import ModelNotFound, SpecExecError
from engine.hub.errors import AccessRefused, LicenseNotAccepted, TokenNeeded


def refusal(
    status: int, headers: Mapping[str, str], repository: str, page: str, sent_token: bool
) -> SpecExecError:
    """The Hub answered `status`, 401, 403 or 404, to a question about `repository`. `page`: the model's, for
    a person; `headers`: of the answer, whatever the case of their names; `sent_token`: with an access
    token."""
    code = headers.get("x-error-code", "")
    said = headers.get("x-error-message", "")
    settings = page.removesuffix(repository) + "settings/tokens"
    if status == 401 and sent_token and code != "GatedRepo":
        return AccessRefused(
            "The Hub does not know the access token.", f"Make a new one at {settings} and enter it.", settings
        )
    if code == "GatedRepo" and not sent_token:
        return TokenNeeded(
            f"{repository} is given only to people with an account who accepted its licence.",
            f"Accept it at {page}, make an access token at {settings} and enter it (specexec pull --token).",
            page,
        )
    if "fine-grained" in said:
        return AccessRefused(
            f"The access token may not read {repository}.",
            f"Allow it to read public gated repositories at {settings}.",
            settings,
        )
    if "rejected" in said:
        return AccessRefused(
            f"The authors of {repository} have refused this account.", "Choose another model.", page
        )
    if "awaiting" in said:
        return AccessRefused(
            f"The authors of {repository} have not yet decided on this account's request.",
            f"Try again when they have; {page} says so.",
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
            f"The Hub refuses access to {repository}.", f"See {page}, with the account of the token.", page
        )
    if code == "RevisionNotFound":
        return ModelNotFound(f"{repository} has no such revision.", f"See {page}.")
    return ModelNotFound(
        f"The Hub has no {repository}, or not for everyone.",
        "Check the name; a private model wants an access token (specexec pull --token).",
    )

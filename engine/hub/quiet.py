"""huggingface_hub, told to keep to itself.

Left alone it says in each request what else is installed and which program runs it, and asks the Hub once a
day for a list of such programs.
"""

import os
from functools import cache

import httpx2

TIMEOUT_S = 30.0
_SETTINGS = (
    "HF_HUB_DISABLE_TELEMETRY",
    "HF_HUB_DISABLE_UPDATE_CHECK",
    "HF_HUB_DISABLE_IMPLICIT_TOKEN",
    "HF_HUB_DISABLE_PROGRESS_BARS",
)


@cache
def hush() -> None:
    """Also where the library is already imported; processes started from here inherit it."""
    for setting in _SETTINGS:
        os.environ[setting] = "1"
    from huggingface_hub import constants, set_client_factory

    constants.HF_HUB_DISABLE_TELEMETRY = True
    constants.HF_HUB_DISABLE_UPDATE_CHECK = True
    constants.HF_HUB_DISABLE_IMPLICIT_TOKEN = True
    set_client_factory(client)


def client() -> httpx2.Client:
    """For metadata; the library's own waits without end."""
    return httpx2.Client(follow_redirects=True, timeout=TIMEOUT_S)

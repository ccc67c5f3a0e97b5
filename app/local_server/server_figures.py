"""What the local server counts, read from its /metrics. Imports no Qt."""

import re
from urllib.parse import urlsplit

import httpx2

from engine.errors import EngineGone

TIMEOUT_S = 3.0
COUNTER = re.compile(r"^vllm:request_success_total (\d+)", re.MULTILINE)


def answered(address: str, key: str) -> int:
    """Return how many requests the server has answered. address: that of its interfaces, which ends in /v1.
    key: "": none. Raises EngineGone if it does not say.

    Not to be called on the GUI thread.
    """
    parts = urlsplit(address)
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    try:
        url = f"{parts.scheme}://{parts.netloc}/metrics"
        with httpx2.Client(trust_env=False, timeout=TIMEOUT_S) as client:  # no proxy on the way to itself
            found = COUNTER.search(client.get(url, headers=headers).raise_for_status().text)
    except httpx2.HTTPError as error:
        raise EngineGone("The local server does not say how much it has answered.") from error
    if found is None:
        raise EngineGone("The local server does not say how much it has answered.")
    return int(found[1])

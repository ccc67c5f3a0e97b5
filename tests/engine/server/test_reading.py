"""What the interfaces make of a request, before the engine sees it."""

import json

import pytest

from engine.server.site import INTERFACES

PROMPTS = {
    "/v1/chat/completions": {"messages": [{"role": "user", "content": "Hi"}]},
    "/v1/completions": {"prompt": "Hi"},
    "/v1/responses": {"input": "Hi"},
    "/v1/messages": {"messages": [{"role": "user", "content": "Hi"}], "max_tokens": 9},
}


@pytest.mark.parametrize("interface", INTERFACES, ids=lambda interface: interface.path)
def test_what_is_not_asked_for_changes_nothing(interface):
    body = {"model": "m", **PROMPTS[interface.path]}
    options = interface.read(json.dumps(body).encode()).options
    assert not options.stop_loops, "nobody could let the answer continue"
    assert (options.temperature, options.top_p, options.top_k, options.min_p) == (1.0, 1.0, 0, 0.0)
    assert options.constraint is None
    assert options.seed is None

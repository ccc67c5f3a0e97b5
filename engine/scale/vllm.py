"""The command of vLLM. Its syntax is that of vLLM 0.32."""

import json
from typing import Any

from engine.scale import script
from engine.scale.cluster import SHARE
from engine.scale.order import ServerOrder

METHODS = {"eagle3": "eagle3", "draft": "draft_model", "mtp": "mtp", "ngram": "ngram"}
LONGEST_NGRAM = 4  # tokens that are looked up


def arguments(order: ServerOrder) -> list[str]:
    """Return the command, without what differs from machine to machine."""
    target, layout = order.target, order.layout
    given = ["vllm", "serve", target.place]
    if target.revision:
        given += ["--revision", target.revision]
    given += ["--served-model-name", order.served, "--host", order.host, "--port", str(order.port)]
    given += ["--max-model-len", str(order.context), "--gpu-memory-utilization", str(SHARE)]
    if layout.tensor > 1:
        given += ["--tensor-parallel-size", str(layout.tensor)]
    if layout.pipeline > 1:
        given += ["--pipeline-parallel-size", str(layout.pipeline)]
    if layout.cards > 1:
        given += ["--distributed-executor-backend", "mp"]
    if layout.nodes > 1:
        given += ["--nnodes", str(layout.nodes)]
    if speculative := speculative_config(order):
        given += ["--speculative-config", json.dumps(speculative)]
    return given


def speculative_config(order: ServerOrder) -> dict[str, Any]:
    """Return the value of --speculative-config; empty without speculation."""
    speculation = order.speculation
    if speculation.method == "none":
        return {}
    fields: dict[str, Any] = {"method": METHODS[speculation.method]}
    if speculation.draft is not None:
        fields |= {"model": speculation.draft.place, "revision": speculation.draft.revision or None}
    if speculation.heads is not None:
        fields |= {"model": speculation.heads.repository, "revision": speculation.heads.commit or None}
    fields["num_speculative_tokens"] = speculation.tokens
    if speculation.method == "ngram":
        fields["prompt_lookup_max"] = LONGEST_NGRAM
    return {name: value for name, value in fields.items() if value is not None}


def text(order: ServerOrder) -> str:
    """Return the command as shell text; with several machines, one script to run on each."""
    if order.layout.nodes == 1:
        return script.command_text(arguments(order)) + "\n"
    raw = [
        f'--node-rank "${script.NODE_RANK}"',
        f'--master-addr "${script.HEAD_ADDRESS}"',
        "$headless",
    ]
    return (
        script.node_checks(order.layout.nodes)
        + f'headless=; [ "${script.NODE_RANK}" = 0 ] || headless=--headless\n'
        + script.command_text(arguments(order), raw)
        + "\n"
    )

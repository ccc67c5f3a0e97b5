"""The file of a SkyPilot task that brings vLLM up on rented machines, one or several."""

from dataclasses import replace
from typing import Any

from engine.errors import BadOption
from engine.scale import script, vllm
from engine.scale.manifest_text import label, yaml_text
from engine.scale.order import ServerOrder

VLLM = "0.32.0"
# Cards as SkyPilot names them, by their GiB; the first that has what is asked is taken, with its equals.
CARDS = (
    (16, ("T4", "V100")),
    (24, ("L4", "A10G", "RTX4090")),
    (40, ("A100",)),
    (48, ("L40S", "A6000")),
    (80, ("H100", "A100-80GB")),
    (141, ("H200",)),
    (180, ("B200",)),
)


def task(order: ServerOrder) -> dict[str, Any]:
    """Return the task. Raises BadOption if no card that SkyPilot knows has so much memory."""
    assert order.cluster is not None
    gib, layout = order.cluster.gib, order.layout
    kinds = next((names for size, names in CARDS if size >= gib), None)
    if kinds is None:
        raise BadOption(
            f"No card with {gib:g} GiB is known for SkyPilot.",
            f"Give at most {CARDS[-1][0]} GiB, as in 8x80.",
        )
    cards = layout.cards // layout.nodes
    secrets: dict[str, None] = {"VLLM_API_KEY": None} | ({"HF_TOKEN": None} if order.target.gated else {})
    places = (
        f'export {script.NODE_RANK}="$SKYPILOT_NODE_RANK"\n'
        f'export {script.HEAD_ADDRESS}="$(echo "$SKYPILOT_NODE_IPS" | head -n1)"\n'
        if layout.nodes > 1
        else ""
    )
    everywhere = replace(order, host="0.0.0.0")
    return {
        "name": label(order.served),
        "num_nodes": layout.nodes,
        "resources": {
            "ports": order.port,
            "disk_size": max(100, int(2 * order.target.outline.nbytes / 1e9) + 50),
            "any_of": [{"accelerators": f"{kind}:{cards}"} for kind in kinds],
        },
        "secrets": secrets,
        "setup": f"pip install vllm=={VLLM}\n",
        "run": places + vllm.text(everywhere),
    }


def text(order: ServerOrder) -> str:
    name = label(order.served)
    given = " ".join(f"--secret {secret}" for secret in task(order)["secrets"])
    usage = [
        "SkyPilot task. VLLM_API_KEY is the key that clients must give; choose a long random one.",
        f"sky launch -c {name} {given} {name}.yaml",
        f"sky status --endpoint {order.port} {name}     # its address",
        f"sky down {name}",
    ]
    return script.comments(usage) + yaml_text(task(order))

"""The command of SGLang. Its syntax is that of SGLang in the autumn of 2026."""

from engine.scale import script
from engine.scale.cluster import SHARE
from engine.scale.order import ServerOrder

METHODS = {"eagle3": "EAGLE3", "draft": "STANDALONE", "mtp": "EAGLE", "ngram": "NGRAM"}
MEETING_PORT = 20_000  # where the machines find each other


def arguments(order: ServerOrder) -> list[str]:
    """Return the command, without what differs from machine to machine."""
    target, layout = order.target, order.layout
    given = ["python3", "-m", "sglang.launch_server", "--model-path", target.place]
    if target.revision:
        given += ["--revision", target.revision]
    given += ["--served-model-name", order.served, "--host", order.host, "--port", str(order.port)]
    given += ["--context-length", str(order.context), "--mem-fraction-static", str(SHARE)]
    given += ["--enable-metrics"]
    if layout.tensor > 1:
        given += ["--tp-size", str(layout.tensor)]
    if layout.pipeline > 1:
        given += ["--pp-size", str(layout.pipeline)]
    if layout.nodes > 1:
        given += ["--nnodes", str(layout.nodes)]
    return given + _speculation(order)


def _speculation(order: ServerOrder) -> list[str]:
    speculation = order.speculation
    if speculation.method == "none":
        return []
    given = ["--speculative-algorithm", METHODS[speculation.method]]
    if speculation.method == "ngram":
        return [*given, "--speculative-num-draft-tokens", str(speculation.tokens)]
    place = revision = ""
    if speculation.draft is not None:
        place, revision = speculation.draft.place, speculation.draft.revision
    elif speculation.heads is not None:
        place, revision = speculation.heads.repository, speculation.heads.commit
    if place:
        given += ["--speculative-draft-model-path", place]
    if revision:
        given += ["--speculative-draft-model-revision", revision]
    draft_packed = speculation.draft is not None and speculation.draft.packed
    if place and order.target.packed and not draft_packed:  # else it is taken to be packed as the target is
        given += ["--speculative-draft-model-quantization", "unquant"]
    # A chain: one candidate in each step. The number of tokens counts the root of the chain, too.
    given += ["--speculative-num-steps", str(speculation.tokens), "--speculative-eagle-topk", "1"]
    return [*given, "--speculative-num-draft-tokens", str(speculation.tokens + 1)]


def text(order: ServerOrder) -> str:
    """Return the command as shell text; with several machines, one script to run on each."""
    if order.layout.nodes == 1:
        return script.command_text(arguments(order), program=3) + "\n"
    raw = [
        f'--node-rank "${script.NODE_RANK}"',
        f'--dist-init-addr "${script.HEAD_ADDRESS}:{MEETING_PORT}"',
    ]
    return (
        script.node_checks(order.layout.nodes) + script.command_text(arguments(order), raw, program=3) + "\n"
    )

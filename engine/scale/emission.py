"""The text for each engine, with what it is based on."""

from collections.abc import Callable
from dataclasses import dataclass

from engine.errors import BadOption
from engine.scale import kuberay, llama_server, script, sglang, skypilot, vllm
from engine.scale.cluster import GIB
from engine.scale.layout import load
from engine.scale.order import ServerOrder


@dataclass(frozen=True, slots=True)
class Emitter:
    """How one text is made.

    Attributes: `engine`, the engine that serves in the end; `text`, of an order, in YAML or shell syntax;
    `arguments`, of the command, None for files.
    """

    engine: str
    text: Callable[[ServerOrder], str]
    arguments: Callable[[ServerOrder], list[str]] | None = None


EMITTERS = {
    "vllm": Emitter("vllm", vllm.text, vllm.arguments),
    "sglang": Emitter("sglang", sglang.text, sglang.arguments),
    "llama-server": Emitter("llama-server", llama_server.text, llama_server.arguments),
    "skypilot": Emitter("vllm", skypilot.text),
    "kuberay": Emitter("vllm", kuberay.text),
}


@dataclass(frozen=True, slots=True)
class Emission:
    """A text for a shell or a file.

    Attributes: `text`, with comments where the reader must act; `arguments`, of the command, None for files;
    `notes`, sentences on what it is based on, not part of the text.
    """

    text: str
    arguments: list[str] | None
    notes: tuple[str, ...]


def emit(to: str, order: ServerOrder) -> Emission:
    """Return the text of `order` for `to`, a key of `EMITTERS`. Raises BadOption if it cannot be given."""
    emitter = EMITTERS[to]
    local = [each.place for each in (order.target, order.speculation.draft) if each and each.local]
    if emitter.arguments is None and local:
        raise BadOption(
            f"The machines of {to} do not have {local[0]}.", "Give the ID of a catalogue model instead."
        )
    remarks = script.comments(_remarks(emitter.engine, order))
    arguments = emitter.arguments(order) if emitter.arguments else None
    return Emission(remarks + emitter.text(order), arguments, tuple(_notes(order)))


def _remarks(engine: str, order: ServerOrder) -> list[str]:
    """Return what whoever runs the text must know; it becomes comments in it."""
    target, speculation = order.target, order.speculation
    lines = []
    if engine == "llama-server" and not target.local:
        lines.append("llama.cpp takes the newest files: it cannot be told a commit.")
    pins = [] if engine == "llama-server" else [(target, "--revision")]
    if speculation.draft is not None and engine != "llama-server":
        pins.append((speculation.draft, "--draft-revision"))
    for source, option in pins:
        if not source.revision and not source.local:
            lines.append(f"No commit of {source.place} is known here, so its main branch is taken: {option}.")
    if speculation.heads is not None and not speculation.heads.commit:
        place = speculation.heads.repository
        lines.append(f"No commit of {place} is known here, so its main branch is taken: --draft-revision.")
    if target.gated:
        lines.append(f"{target.place} asks for consent at the Hub, and for a token in HF_TOKEN.")
    return lines


def _notes(order: ServerOrder) -> list[str]:
    target, speculation = order.target, order.speculation
    notes = [f"Target       {target}, {target.outline.nbytes / GIB:.1f} GiB"]
    if order.cluster is not None:
        held, drafting = load(target, order.layout, order.context), speculation.nbytes
        notes.append(f"Cards        {order.cluster}: {order.layout}")
        notes.append(
            f"Each card    {held.weights / GIB:.1f} GiB of weights, {held.cache / GIB:.1f} GiB of KV cache "
            f"for {order.context:,} tokens, {drafting / GIB:.1f} GiB to draft; "
            f"{order.cluster.usable / GIB:.1f} GiB can be used"
        )
        if order.layout.nodes < order.cluster.nodes:
            notes.append("Machines     fewer than given are enough; on the others, serve copies of it")
    by = speculation.draft or (speculation.heads.repository if speculation.heads else "")
    drafted = f"{speculation.method}, {speculation.tokens} tokens at a time" if speculation.tokens else "none"
    notes.append(f"Speculation  {drafted}{f', by {by}' if by else ''}. {speculation.why}".rstrip())
    return notes

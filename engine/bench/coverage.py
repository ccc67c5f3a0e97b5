"""`specexec bench coverage`: measures what share of the target's probability the draft's best k tokens hold,
on the target's own answers. This share bounds the acceptance of the best possible tree from one draft
(SpecExec, arXiv 2406.02532, figure 2).

Each model reads a whole answer in one pass. The target's distribution is the one it samples from, after all
processors.
"""

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from numpy.typing import NDArray

from engine import protocol
from engine.arrays import Array, as_float, on_host, top
from engine.bench.estimates import Curve, Estimate, check_plot, draw, mean
from engine.bench.options import (
    add_plot_option,
    add_prompt_options,
    add_sampling_options,
    checked_options,
    prompts_of,
    say,
)
from engine.errors import BadOption
from engine.serving.service import EngineService
from engine.terminal import Commands, add_command, add_model_options, cancelled_by_ctrl_c, load_request

if TYPE_CHECKING:
    from engine.model.interface import Model
    from engine.sampling import Sampler

KS = (1, 2, 4, 8, 16, 32, 64, 128)


def add(kinds: Commands) -> None:
    parser = add_command(
        kinds,
        "coverage",
        run,
        "measure how much of the target's probability the draft's best tokens hold",
        "For k = 1, 2, 4, … 128: the share of the target's probability that the draft's k most probable "
        "tokens hold, averaged over the tokens of the target's own answers, and beside it the share held by "
        "the target's own k best tokens.",
    )
    add_model_options(parser)
    add_prompt_options(parser)
    add_sampling_options(parser)
    parser.add_argument(
        "--temperature",
        type=float,
        metavar="T",
        default=1.0,
        help="sampling temperature (default: 1, the target's own distribution)",
    )
    add_plot_option(parser, "the share against k")


def run(parsed: argparse.Namespace) -> int:
    from engine.serving.samplers import sampler_of

    prompts = prompts_of(parsed)
    options = checked_options(parsed, temperature=parsed.temperature, max_new_tokens=parsed.tokens)
    check_plot(parsed.plot)
    engine, texts = EngineService(), []
    with cancelled_by_ctrl_c() as cancelled:
        engine.load(load_request(parsed), lambda event: None, cancelled)
        assert engine.session is not None
        pair = engine.session.pair
        try:
            if pair.draft is None:
                raise BadOption("This bench needs a draft model.", "Name one with --draft.")
            for prompt in prompts:
                say(f"{prompt.key}, answer")
                message = protocol.Message("user", prompt.text)
                chat = protocol.Chat(id=0, messages=[message], options=options)
                answer = engine.session.answer(chat, lambda event: None, cancelled)
                read = pair.tokenizer.encode_chat([{"role": "user", "content": prompt.text}])
                texts.append((read, answer.token_ids))
            sampler = sampler_of(options, parsed.seed, pair.tokenizer)
            coverages = measure(pair.target.model, pair.draft.model, texts, sampler, say)
        finally:
            engine.unload()
    if parsed.json:
        print(json.dumps({"coverage": msgspec.to_builtins(coverages)}))
    else:
        print("\n".join(table(coverages)))
    if parsed.plot:
        draw(parsed.plot, curves(coverages), x="k", y="probability held, 95 % interval", doubling=True)
    return 0


class Coverage(msgspec.Struct, frozen=True):
    """The coverage for one `k`, over `prompts` answers. `draft`: the share of the target's probability that
    the draft's k best tokens hold; `target`: the share that the target's own k best tokens hold."""

    k: int
    prompts: int
    draft: Estimate
    target: Estimate


def measure(
    target: "Model",
    draft: "Model",
    texts: Sequence[tuple[Sequence[int], Sequence[int]]],
    sampler: "Sampler",
    say: Callable[[str], None],
) -> list[Coverage]:
    """Measure the coverage for each k of KS.

    texts: pairs of a prompt and its answer, as token ids. Shares are averaged over all tokens of an answer,
    then over the answers. Raises the errors that a pass raises.
    """
    from engine.sampling import TokenHistory

    shares: list[tuple[NDArray[np.float64], NDArray[np.float64]]] = []
    for number, (prompt, answer) in enumerate(texts, start=1):
        say(f"answer {number} of {len(texts)}")
        history = TokenHistory(prompt, [answer[:place] for place in range(len(answer))])
        probs = sampler.probabilities(_logits(target, prompt, answer), history)
        guessed = _logits(draft, prompt, answer)[:, : probs.shape[1]]
        shares.append((_held(probs, guessed), _held(probs, probs)))
    return [
        Coverage(
            k,
            len(shares),
            mean([float(by_draft[k - 1]) for by_draft, _ in shares]),
            mean([float(by_target[k - 1]) for _, by_target in shares]),
        )
        for k in KS
    ]


def table(coverages: Sequence[Coverage]) -> Iterator[str]:
    """Yield the lines of a Markdown table."""
    yield "| k | held by the draft's best k | by the target's own |"
    yield "|---:|---:|---:|"
    for coverage in coverages:
        draft, own = coverage.draft, coverage.target
        interval = "" if draft.low is None else f" ({draft.low:.3f}–{draft.high:.3f})"
        yield f"| {coverage.k} | {draft.value:.3f}{interval} | {own.value:.3f} |"


def curves(coverages: Sequence[Coverage]) -> list[Curve]:
    return [
        Curve("the draft's best k", {float(each.k): each.draft for each in coverages}),
        Curve("the target's own", {float(each.k): each.target for each in coverages}),
    ]


def _logits(model: "Model", prompt: Sequence[int], answer: Sequence[int]) -> Array:
    """Return the logits from which each token of the answer was chosen, [answer, vocabulary]."""
    from engine.model.rows import Rows

    tokens = [*prompt, *answer[:-1]]
    rows = slice(len(prompt) - 1, None)
    return model.forward(Rows.text(tokens, 0), model.new_cache(len(tokens)), logits_for=rows).logits


def _held(probs: Array, order: Array) -> NDArray[np.float64]:
    """Return the share of `probs` that the best 1, 2, … max(KS) tokens by `order` hold, averaged over the
    rows: [max(KS)]. probs, order: [rows, vocabulary]."""
    _, best = top(as_float(order), max(KS))
    held = np.take_along_axis(on_host(probs), on_host(best), axis=-1)
    shares: NDArray[np.float64] = held.cumsum(-1).mean(0)
    return shares

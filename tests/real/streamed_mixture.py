"""How a streamed mixture of experts answers, beside the best that a cache of its size could do:

    python -m tests.real.streamed_mixture MADE.gguf --ram-limit 8 [--before 100] [--tokens 300]
    python -m tests.real.streamed_mixture MADE.gguf --ram-limit 8 --drafters none,auto --repeats 3
    python -m tests.real.streamed_mixture MADE.gguf --ram-limit 8 --no-cache --before 0 --tokens 30

MADE.gguf is qwen3 of `tests.real.made_mixture`. The first passes, which fill the cache and teach its policy,
are not counted. Of the others: the shares of the chosen experts that were ready in the cache and on their way
to it, beside Belady's optimum on the same routing; and the time of a pass beside its bound, the longer of
reading what was missed, at the speed of reading all experts right before and after the answer, and computing,
which is what is not waiting. With --drafters, answers with each of these drafters in turn, and the tokens/s
of each: a tree must not be slower than none. With --no-cache, each mixture reads what it has chosen, and
nothing is kept or read ahead: the cache has the fewest slots there can be.
"""

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from statistics import median
from unittest.mock import patch

import gguf
import numpy as np

from engine import protocol
from engine.bench.experts import hits_of_best, kept
from engine.bench.made_routing import Routing, routed
from engine.bench.timings import timed
from engine.planner.tiers import SLOTS
from engine.serving.service import EngineService
from engine.serving.session import Session
from engine.streaming import Streamer, chunk_placement
from engine.streaming.chunk_placement import expert_slots
from engine.streaming.expert_cache import ExpertCache
from tests.real.made_mixture import TRACE

QUESTION = "What is there to say?"

Passes = list[protocol.IterationDone]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("target")
    parser.add_argument("--ram-limit", type=float, required=True, help="GiB")
    parser.add_argument("--before", type=int, default=100, help="passes that are not counted (default: 100)")
    parser.add_argument("--tokens", type=int, default=300, help="tokens of the answer (default: 300)")
    parser.add_argument("--drafters", default="none", help="answer with these in turn (default: none)")
    parser.add_argument("--repeats", type=int, default=3, help="answers of each of them (default: 3)")
    parser.add_argument("--no-cache", action="store_true", help="keep no experts, and read none ahead")
    given = parser.parse_args()
    engine = EngineService()
    load = protocol.Load(
        id=1, target=given.target, draft="none", device="cpu", ram_limit=given.ram_limit, context=2048
    )
    with without_cache() if given.no_cache else nullcontext():
        engine.load(load, _ignore, _never)
        assert engine.session is not None
        streamed = engine.session.pair.target.model.streamer
        assert streamed is not None
        drafters = given.drafters.split(",")
        if drafters != ["none"]:
            rounds = [
                [answered(engine.session, drafter, given.tokens) for drafter in drafters]
                for _ in range(given.repeats)
            ]
            lines = beside_each_other(drafters, rounds, given.before)
        else:
            layers = int(gguf.GGUFReader(given.target).fields["qwen3moe.block_count"].contents())
            before = timed(streamed.sweep, 2)
            passes = answered(engine.session, "none", given.tokens)
            after = timed(streamed.sweep, 2)
            speed = streamed.pass_nbytes * 2 / (before.s + after.s)
            lines = table(Routing(layers, passes=TRACE), streamed, passes, given.before, speed)
        print("\n".join(lines))
        engine.unload()


@contextmanager
def without_cache() -> Iterator[None]:
    """Let the caches of models that are loaded within have as few slots as a ring, and let nothing be read
    before its router has chosen it."""

    def few(*how: object) -> int:
        return min(SLOTS, expert_slots(*how))  # type: ignore[arg-type]

    with (
        patch.object(chunk_placement, "expert_slots", few),
        patch.object(ExpertCache, "_begin_guessed", lambda cache: False),
        patch.object(ExpertCache, "asks", lambda cache, mixture, ahead: False),
    ):
        yield


def answered(session: Session, drafter: str, tokens: int) -> Passes:
    """Return the iterations of an answer that reads its question anew."""
    options = protocol.Options(
        drafter=drafter, temperature=0.0, max_new_tokens=tokens, seed=0, stop_loops=False
    )
    passes: Passes = []

    def note(event: protocol.Event) -> None:
        if isinstance(event, protocol.IterationDone):
            passes.append(event)

    session.forget()
    chat = protocol.Chat(id=0, messages=[protocol.Message("user", QUESTION)], options=options)
    session.answer(chat, note, _never)
    return passes


def beside_each_other(drafters: list[str], rounds: list[list[Passes]], before: int) -> list[str]:
    """Return a line for each drafter. rounds: the answers with each of them. before: tokens that are not
    counted."""
    lines, plain = [], 0.0
    for drafter, answers in zip(drafters, zip(*rounds, strict=True), strict=True):
        counted = [[each for each in passes if each.tokens > before] for passes in answers]
        tokens = [passes[-1].tokens - before for passes in counted]
        speeds = [count / sum(map(seconds_of, passes)) for count, passes in zip(tokens, counted, strict=True)]
        figures = [each.experts for passes in counted for each in passes if each.experts is not None]
        plain = median(speeds) if drafter == "none" else plain
        lines.append(
            f"{drafter:>10}: {median(speeds):.2f} tokens/s ({min(speeds):.2f}–{max(speeds):.2f}), "
            + (f"{median(speeds) / plain:.2f} × none, " if plain else "")
            + f"{sum(tokens) / sum(map(len, counted)):.2f} tokens per pass, {chosen_of(figures)}"
        )
    return lines


def seconds_of(done: protocol.IterationDone) -> float:
    return sum(getattr(done.seconds, name) for name in done.seconds.__struct_fields__)


def chosen_of(figures: Sequence[protocol.ExpertFigures]) -> str:
    """Return which shares of the chosen experts were ready, and on their way."""
    hits, late, misses = (sum(getattr(each, name) for each in figures) for name in ("hits", "late", "misses"))
    chosen = hits + late + misses
    return f"of the chosen experts {hits / chosen:.1%} ready, {late / chosen:.1%} on their way"


def table(routing: Routing, streamer: Streamer, passes: Passes, before: int, speed: float) -> list[str]:
    """speed: of reading, bytes/s."""
    counted = passes[before:]
    figures = [each.experts for each in counted if each.experts is not None]
    read = sum(each.bytes_read for each in figures)
    turns = list(routed(routing))[: len(passes) * routing.layers]
    experts = routing.layers * routing.experts
    slots = streamer.cache_nbytes * experts // sum(streamer.expert_homes.values())
    predicted, right = sum(each.predicted for each in figures), sum(each.right for each in figures)
    best = hits_of_best(turns, experts, slots)[before * routing.layers * routing.chosen :]
    seconds = [seconds_of(each) for each in counted]
    computing = [whole - each.seconds.stream_wait for whole, each in zip(seconds, counted, strict=True)]
    waiting = [each.seconds.stream_wait for each in counted]
    reading = read / len(counted) / speed
    mean = float(np.mean(seconds))
    bound = max(reading, float(np.mean(computing)))
    return [
        f"{slots} of {experts} experts cached; {kept(turns, routing.layers):.0%} of a "
        f"pass's experts were the last one's; {len(counted)} passes counted",
        f"{chosen_of(figures)}; Belady's optimum {best.mean():.1%}",
        f"read in a pass {read / len(counted) / 1e9:.3f} GB at {speed / 1e9:.2f} GB/s: {reading:.3f} s",
        f"computing {np.mean(computing):.3f} s; a pass {mean:.3f} s (median {median(seconds):.3f}), "
        f"{mean / bound:.2f} of the bound; {1 / mean:.2f} tokens/s",
        f"read before it was chosen {predicted}, then chosen {right} ({right / max(1, predicted):.0%})",
        f"waited for experts and other weights {np.mean(waiting):.3f} s a pass",
    ]


def _ignore(event: protocol.Event) -> None:
    pass


def _never() -> bool:
    return False


if __name__ == "__main__":
    main()

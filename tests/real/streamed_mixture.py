"""How a streamed mixture of experts answers, beside the best that a cache of its size could do:

    python -m tests.real.streamed_mixture MADE.gguf --ram-limit 8 [--before 100] [--tokens 300]

MADE.gguf is qwen3 of `tests.real.made_mixture`. The first passes, which fill the cache and teach its policy,
are not counted. Of the others: the share of the chosen experts that were in the cache, beside Belady's
optimum on the same routing; and the time of a pass beside its bound, the longer of reading what was missed,
at the speed of reading all experts right before and after the answer, and computing, which is what is not
waiting.
"""

import argparse
from statistics import median

import gguf
import numpy as np

from engine import protocol
from engine.bench.experts import hits_of_best, kept
from engine.bench.made_routing import Routing, routed
from engine.bench.timings import timed
from engine.serving.service import EngineService
from engine.streaming import Streamer
from tests.real.made_mixture import TRACE

QUESTION = "What is there to say?"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("target")
    parser.add_argument("--ram-limit", type=float, required=True, help="GiB")
    parser.add_argument("--before", type=int, default=100, help="passes that are not counted (default: 100)")
    parser.add_argument("--tokens", type=int, default=300, help="tokens of the answer (default: 300)")
    given = parser.parse_args()
    engine = EngineService()
    load = protocol.Load(
        id=1, target=given.target, draft="none", device="cpu", ram_limit=given.ram_limit, context=2048
    )
    engine.load(load, _ignore, _never)
    assert engine.session is not None
    streamer = engine.session.pair.target.model.streamer
    assert streamer is not None
    layers = int(gguf.GGUFReader(given.target).fields["qwen3moe.block_count"].contents())
    before = timed(streamer.sweep, 2)
    options = protocol.Options(
        drafter="none", temperature=0.0, max_new_tokens=given.tokens, seed=0, stop_loops=False
    )
    passes: list[protocol.IterationDone] = []

    def note(event: protocol.Event) -> None:
        if isinstance(event, protocol.IterationDone):
            passes.append(event)

    chat = protocol.Chat(id=0, messages=[protocol.Message("user", QUESTION)], options=options)
    engine.session.answer(chat, note, _never)
    after = timed(streamer.sweep, 2)
    speed = streamer.pass_nbytes * 2 / (before.s + after.s)
    print("\n".join(table(Routing(layers, passes=TRACE), streamer, passes, given.before, speed)))
    engine.unload()


def table(
    routing: Routing, streamer: Streamer, passes: list[protocol.IterationDone], before: int, speed: float
) -> list[str]:
    """speed: of reading, bytes/s."""
    counted = passes[before:]
    figures = [each.experts for each in counted if each.experts is not None]
    hits, misses = sum(each.hits for each in figures), sum(each.misses for each in figures)
    read = sum(each.bytes_read for each in figures)
    turns = list(routed(routing))[: len(passes) * routing.layers]
    experts = routing.layers * routing.experts
    slots = streamer.cache_nbytes * experts // sum(streamer.expert_homes.values())
    predicted, right = sum(each.predicted for each in figures), sum(each.right for each in figures)
    best = hits_of_best(turns, experts, slots)[before * routing.layers * routing.chosen :]
    seconds = [
        sum(getattr(each.seconds, name) for name in each.seconds.__struct_fields__) for each in counted
    ]
    computing = [whole - each.seconds.stream_wait for whole, each in zip(seconds, counted, strict=True)]
    waiting = [each.seconds.stream_wait for each in counted]
    reading = read / len(counted) / speed
    mean = float(np.mean(seconds))
    bound = max(reading, float(np.mean(computing)))
    return [
        f"{slots} of {experts} experts cached; {kept(turns, routing.layers):.0%} of a "
        f"pass's experts were the last one's; {len(counted)} passes counted",
        f"hits {hits / (hits + misses):.1%}; Belady's optimum {best.mean():.1%}",
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

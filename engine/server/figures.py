"""The figures of an answer in the shapes that clients of llama-server and vLLM print."""

from collections import Counter
from typing import Any

from engine.protocol import Answer


def timings_of(answer: Answer) -> dict[str, Any]:
    """Return `timings` as llama-server gives it: milliseconds, tokens, and what was drafted and accepted."""
    prompt_ms = 1e3 * (answer.time_to_first_token_s or 0.0)
    read = answer.prompt_tokens - answer.reused_tokens
    seconds = answer.seconds
    predicted_ms = 1e3 * (seconds.draft + seconds.target + seconds.stream_wait + seconds.other)
    later = max(0, answer.tokens - 1)  # the first token comes from reading the prompt
    return {
        "cache_n": answer.reused_tokens,
        "prompt_n": read,
        "prompt_ms": prompt_ms,
        "prompt_per_token_ms": prompt_ms / max(1, read),
        "prompt_per_second": _rate(read, prompt_ms),
        "predicted_n": answer.tokens,
        "predicted_ms": predicted_ms,
        "predicted_per_token_ms": predicted_ms / max(1, later),
        "predicted_per_second": answer.tokens_per_second or 0.0,
        "draft_n": sum(answer.drafted),
        "draft_n_accepted": sum(answer.accepted),
    }


def metrics_of(answer: Answer) -> dict[str, Any]:
    """Return `metrics` as vLLM gives it with --enable-per-request-metrics and
    --per-request-spec-decode-metrics detailed. A step is a pass of the target over a tree."""
    timings = timings_of(answer)
    drafted, accepted = sum(answer.drafted), sum(answer.accepted)
    steps = len(answer.accepted)
    return {
        "time_to_first_token_ms": timings["prompt_ms"],
        "generation_time_ms": timings["predicted_ms"],
        "mean_itl_ms": timings["predicted_per_token_ms"],
        "tokens_per_second": timings["predicted_per_second"],
        "speculative_decoding": {
            "num_spec_steps": steps,
            "num_spec_tokens": answer.budget,
            "num_draft_tokens": drafted,
            "num_accepted_draft_tokens": accepted,
            "mean_acceptance_length": 1 + accepted / max(1, steps),
            "draft_acceptance_rate": accepted / max(1, drafted),
            "acceptance_histogram": {str(n): count for n, count in sorted(Counter(answer.accepted).items())},
            "per_step_accepted": answer.accepted,
            "per_step_drafted": answer.drafted,
        },
    }


def _rate(count: int, ms: float) -> float:
    return 1e3 * count / ms if ms > 0 else 0.0

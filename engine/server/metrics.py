"""Counters of the server's work as text for Prometheus. What vLLM counts too has vLLM's names."""

import threading
from collections import Counter

from engine.protocol import Answer

_HELP = {
    "specexec_requests_total": ("counter", "Requests by path and HTTP status."),
    "specexec_requests_running": ("gauge", "Requests in progress or waiting."),
    "specexec_seconds_total": ("counter", "Seconds spent on each phase of decoding."),
    "specexec_target_passes_total": ("counter", "Passes of the target after the prefill."),
    "specexec_experts_total": ("counter", "Experts that passes used, by where the cache had them."),
    "specexec_expert_bytes_total": ("counter", "Bytes of experts that were brought into the cache."),
    "vllm:request_success_total": ("counter", "Answers that were completed."),
    "vllm:prompt_tokens_total": ("counter", "Prompt tokens, read or reused."),
    "vllm:prompt_tokens_cached_total": ("counter", "Prompt tokens whose rows were reused."),
    "vllm:generation_tokens_total": ("counter", "Tokens of answers."),
    "vllm:spec_decode_num_drafts_total": ("counter", "Trees that the target has verified."),
    "vllm:spec_decode_num_draft_tokens_total": ("counter", "Nodes of those trees."),
    "vllm:spec_decode_num_accepted_tokens_total": ("counter", "Nodes that the target accepted."),
    "vllm:spec_decode_num_accepted_tokens_per_pos_total": ("counter", "Accepted nodes by depth in the tree."),
}
_LABELLED = ("specexec_requests_total", "specexec_seconds_total", "specexec_experts_total")
_PHASES = ("draft", "target", "stream_wait", "other")
_EXPERTS = ("hits", "late", "misses", "near")  # as in `ExpertFigures`


class Metrics:
    """Counts requests and answers. Every method may be called from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: Counter[tuple[str, str]] = Counter()

    def count_request(self, path: str, status: int) -> None:
        with self._lock:
            self._counts["specexec_requests_total", f'path="{path}",status="{status}"'] += 1

    def count_answer(self, answer: Answer) -> None:
        with self._lock:
            counts = self._counts
            counts["vllm:request_success_total", ""] += 1
            counts["vllm:prompt_tokens_total", ""] += answer.prompt_tokens
            counts["vllm:prompt_tokens_cached_total", ""] += answer.reused_tokens
            counts["vllm:generation_tokens_total", ""] += answer.tokens
            counts["specexec_target_passes_total", ""] += answer.target_passes
            counts["vllm:spec_decode_num_drafts_total", ""] += len(answer.accepted)
            counts["vllm:spec_decode_num_draft_tokens_total", ""] += sum(answer.drafted)
            counts["vllm:spec_decode_num_accepted_tokens_total", ""] += sum(answer.accepted)
            for accepted in answer.accepted:
                for depth in range(accepted):
                    name = "vllm:spec_decode_num_accepted_tokens_per_pos_total"
                    counts[name, f'position="{depth}"'] += 1
            for phase in _PHASES:
                counts["specexec_seconds_total", f'phase="{phase}"'] += getattr(answer.seconds, phase)
            if (experts := answer.experts) is not None:
                counts["specexec_expert_bytes_total", ""] += experts.bytes_read
                for kind in _EXPERTS:
                    counts["specexec_experts_total", f'kind="{kind}"'] += getattr(experts, kind)

    def text(self, running: int) -> str:
        """Return all counters in Prometheus' text format. running: requests in progress or waiting."""
        with self._lock:
            counts = {**self._counts, ("specexec_requests_running", ""): running}
        lines: list[str] = []
        for name, (kind, help) in _HELP.items():
            lines += [f"# HELP {name} {help}", f"# TYPE {name} {kind}"]
            values = {labels: value for (counted, labels), value in counts.items() if counted == name}
            if not values and name not in _LABELLED:
                values = {"": 0}
            lines += [
                f"{name}{{{labels}}} {value:g}" if labels else f"{name} {value:g}"
                for labels, value in sorted(values.items())
            ]
        return "\n".join(lines) + "\n"

"""Answers that no model has written."""

from engine import protocol


def made_answer(text: str = "An answer.", **changes: object) -> protocol.Answer:
    """Return a complete answer of two tokens, with other fields where `changes` names them."""
    fields = dict(
        request=0,
        text=text,
        token_ids=[1, 2],
        log_probs=None,
        stop_reason="end_of_sequence",
        seed=0,
        prompt_tokens=1,
        reused_tokens=0,
        tokens=2,
        target_passes=1,
        tokens_per_pass=1.0,
        tokens_per_second=1.0,
        time_to_first_token_s=0.1,
        seconds=protocol.Seconds(),
        bytes_streamed=0,
        link_gb_per_s=None,
        memory=protocol.Memory(vram=0, ram=0, peak=0),
        drafter="none",
        budget=0,
        budgets=[],
    )
    return protocol.Answer(**{**fields, **changes})  # type: ignore[arg-type]

"""Samplers as the options of a chat describe them."""

from engine import protocol
from engine.repetition import Dry
from engine.sampling import Sampler
from engine.tokenizer import Tokenizer


def sampler_of(
    options: protocol.Options, seed: int, tokenizer: Tokenizer, first: int | None = None
) -> Sampler:
    """Return the sampler that the options describe. Token sets that depend on the vocabulary are made only
    for the processors that need them. first: the position where the answer begins; None: it has begun."""
    breakers = spared = frozenset[int]()
    if options.dry_multiplier:
        breakers = tokenizer.eos_ids.union(*map(tokenizer.tokens_containing, options.dry_breakers))
    if options.xtc_probability:
        spared = tokenizer.eos_ids.union(tokenizer.encode("\n")[-1:])
    return Sampler(
        seed=seed,
        temperature=options.temperature,
        top_k=options.top_k,
        top_p=options.top_p,
        min_p=options.min_p,
        repetition_penalty=options.repetition_penalty,
        presence_penalty=options.presence_penalty,
        frequency_penalty=options.frequency_penalty,
        logit_bias=options.logit_bias,
        suppressed=tokenizer.suppressed_ids,
        first_suppressed=tokenizer.first_suppressed_ids,
        first=first,
        dry=Dry(
            options.dry_multiplier,
            options.dry_base,
            options.dry_allowed_length,
            options.dry_range,
            breakers,
        ),
        xtc_probability=options.xtc_probability,
        xtc_threshold=options.xtc_threshold,
        spared=spared,
    )

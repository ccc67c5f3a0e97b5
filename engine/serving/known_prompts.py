"""The prompt cache of an engine: how large it may be, and which rows belong to which model."""

import hashlib
import logging
from functools import partial
from importlib.metadata import version

import msgspec

from engine import protocol
from engine.checkpoints import Checkpoint
from engine.files import identity
from engine.heads import CachedHead, HeadsFile
from engine.machine import available_nbytes
from engine.model.kv_cache import KVCache
from engine.model.sequence import Sequence
from engine.prompt_cache import BlockFiles, KnownRows, PromptCache, files
from engine.serving.load import CheckedPair
from engine.serving.pair import LoadedPair

log = logging.getLogger(__name__)

GIB = 1 << 30
MOST_BY_DEFAULT = GIB
SHARE_BY_DEFAULT = 0.1  # of the RAM that is free


def prompt_cache(request: protocol.Load) -> PromptCache:
    """Return an empty prompt cache as large as the request wishes. It is the same for all models."""
    if request.prompt_cache is None:
        budget = min(MOST_BY_DEFAULT, int(SHARE_BY_DEFAULT * available_nbytes()))
    else:
        budget = int(request.prompt_cache * GIB)
    return PromptCache(budget, _files(int(request.prompt_cache_disk * GIB)))


def _files(budget_nbytes: int) -> BlockFiles | None:
    """Return the blocks on the disk, or None if there shall be none, or the folder cannot be used."""
    if not budget_nbytes:
        return None
    try:
        return BlockFiles(files.default_folder(), budget_nbytes)
    except OSError as error:
        log.warning("prompts are not kept on the disk: %s", error)
        return None


def attach(cache: PromptCache, pair: CheckedPair, loaded: LoadedPair) -> None:
    """Let the models of a pair use the prompt cache."""
    loaded.prompts = cache
    for file, sequence in ((pair.files.target, loaded.target), (pair.files.draft, loaded.draft)):
        if file and sequence:
            sequence.known = KnownRows(cache, model_digest(file, sequence))
    if pair.files.heads and isinstance(loaded.heads, CachedHead):
        target = model_digest(pair.files.target, loaded.target)
        facts = heads_facts(pair.files.heads, loaded.heads)
        loaded.heads.known_beside = partial(_known_beside, cache, target + msgspec.json.encode(facts))


def _known_beside(cache: PromptCache, heads: bytes, rows: KVCache) -> KnownRows:
    """Return what is kept of the texts that were in `rows` before, a cache of heads. heads: what tells them
    from others, with the target's digest."""
    facts = msgspec.json.encode([rows.form, rows.capacity])
    return KnownRows(cache, hashlib.blake2b(heads + facts, digest_size=32).digest())


def heads_facts(file: HeadsFile, heads: CachedHead) -> list[object]:
    """Return all that the rows of heads depend on, besides the tokens, the target and their cache's format:
    the files of the heads, their configuration, and whether compiled passes run them."""
    return [
        identity(file.files),
        msgspec.json.encode(file.config, enc_hook=str).decode(),
        file.kind,
        type(heads).__name__,
    ]


def model_digest(file: Checkpoint, sequence: Sequence) -> bytes:
    """Return a digest of all that rows depend on, besides the tokens: the files of the weights, the
    configuration, the arithmetic, the KV cache's format, the context (to which positions may be scaled) and
    the version of the engine."""
    facts = [
        version("specexec-desktop"),
        identity(span.file for weight in file.weights.values() for span in weight.spans),
        file.architecture,
        msgspec.json.encode(file.config, enc_hook=str).decode(),
        sequence.model.arithmetic,
        sequence.model.device,
        sequence.cache.form,
        sequence.cache.capacity,
    ]
    return hashlib.blake2b(msgspec.json.encode(facts), digest_size=32).digest()

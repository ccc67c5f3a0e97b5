"""Admits an architecture that is not declared: a small random model is run by this program and by
transformers, in float32, and must give the same log-probabilities. It is compared as plain text, as a tree,
and after a rewind, beyond its windows and its original context.

The outcome is stored by architecture, settings, and the versions of transformers and of this program."""

import hashlib
import json
import logging
from importlib.metadata import version
from pathlib import Path

import numpy as np
import platformdirs
import torch
import transformers
from torch import Tensor
from transformers import AutoModelForCausalLM, PreTrainedModel
from transformers.configuration_utils import PretrainedConfig

from engine.documents import read_json
from engine.errors import SpecExecError, exhausted_tier
from engine.files import write_whole
from engine.model.architectures import unsupported
from engine.model.rows import Rows
from engine.model.sequence import Sequence
from engine.torch_model.attention import ATTENTION
from engine.torch_model.forward import TorchModel
from engine.torch_model.rope import fix_rope
from engine.torch_model.small import VOCABULARY, small_config

log = logging.getLogger(__name__)

TOLERANCE = 1e-3  # of log-probabilities
_BEST = 10  # tokens whose log-probabilities are compared
_CONTEXT = 64  # tokens, beyond the original context and windows of `small_config`
_TEXT = 40
# A tree of seven nodes in two passes, so that the second has a tail: nodes 3 and 6 are on different paths.
_PARENTS = (-1, -1, 0, 0, 1, 2, 4)
_FIRST = 5


def prove(config: PretrainedConfig) -> None:
    """Raise UnsupportedModel unless this program computes what transformers does for such a configuration."""
    try:
        small = small_config(config)
    except SpecExecError:
        raise
    except Exception as error:
        if exhausted_tier(error):
            raise
        raise unsupported(config.model_type, f"no small model could be made ({_line(error)})") from error
    key = _key(small)
    outcomes = _outcomes()
    if key not in outcomes:
        log.info("Comparing a small %s model with transformers.", config.model_type)
        outcomes[key] = difference(small)
        _store(outcomes)
    if outcomes[key]:
        raise unsupported(config.model_type, outcomes[key])


def difference(config: PretrainedConfig) -> str:
    """Return in which way this program computes a random model of this configuration otherwise than
    transformers, or "" if both agree. Raises what says that memory ran out, which tells nothing about the
    architecture."""
    generator = torch.Generator().manual_seed(0)
    state = torch.get_rng_state()
    torch.manual_seed(0)
    try:
        return _compared(config, generator)
    except SpecExecError as error:
        return error.message.rstrip(".")
    except Exception as error:
        if exhausted_tier(error):
            raise
        log.debug("A pass of a small model failed.", exc_info=True)
        return f"a pass fails ({_line(error)})"
    finally:
        torch.set_rng_state(state)


def _compared(config: PretrainedConfig, generator: torch.Generator) -> str:
    reference = _random_model(config, generator)
    model = _twin(reference, config)
    text = torch.randint(0, VOCABULARY, (_TEXT,), generator=generator).tolist()
    nodes = torch.randint(0, VOCABULARY, (len(_PARENTS),), generator=generator).tolist()
    plain = model.forward(Rows.text(text, 0), model.new_cache(_CONTEXT)).logits
    if found := _apart("a plain text", plain, _logits(reference, text)):
        return found
    sequence = Sequence(model, _CONTEXT)
    sequence.extend(text)
    paths, visible = _tree(text, nodes)
    positions = [len(path) - 1 for path in paths]
    passes = [
        sequence.consider(nodes[:_FIRST], positions[:_FIRST], visible[:_FIRST, :_FIRST]).logits,
        sequence.consider(nodes[_FIRST:], positions[_FIRST:], visible[_FIRST:]).logits,
    ]
    expected = torch.stack([_logits(reference, path)[-1] for path in paths])
    if found := _apart("a tree", torch.cat(passes), expected):
        return found
    deepest = paths.index(max(paths, key=len))
    kept = [node for node in range(len(nodes)) if visible[deepest, node]]
    sequence.keep(kept, [nodes[node] for node in kept])
    for begin, what in ((paths[deepest], "text behind a tree"), (text[:-8], "text behind a rewind")):
        longer = [*begin, 5, 7]
        sequence.align(begin)
        after = sequence.extend(longer[len(sequence.ids) :])
        if found := _apart(what, after[None], _logits(reference, longer)[-1:]):
            return found
    return ""


def _apart(what: str, found: Tensor, expected: Tensor) -> str:
    """Return how far the log-probabilities of the best tokens are from the expected ones, both [rows,
    vocabulary], or "" if no farther than the tolerance."""
    if found.shape != expected.shape or not found.isfinite().all():
        return f"the logits of {what} are not numbers for each token"
    ours, theirs = found.float().log_softmax(-1), expected.float().log_softmax(-1)
    best = theirs.topk(_BEST).indices
    apart = (ours.gather(1, best) - theirs.gather(1, best)).abs().amax(1)
    worst = int(apart.argmax())
    if apart[worst] <= TOLERANCE:
        return ""
    return (
        f"in a small random model, log-probabilities of {what} differ from transformers' by up to "
        f"{apart[worst]:.2g} (row {worst})"
    )


def _random_model(config: PretrainedConfig, generator: torch.Generator) -> PreTrainedModel:
    """Return transformers' model with weights at which every part of a layer matters."""
    module: PreTrainedModel = AutoModelForCausalLM.from_config(  # type: ignore[no-untyped-call]
        config, dtype=torch.float32, attn_implementation="eager"
    )
    with torch.no_grad():
        for weight in module.parameters():
            noise = torch.randn(weight.shape, generator=generator)
            if weight.ndim > 1:
                weight.copy_(noise * 1.5 * weight.shape[-1] ** -0.5)
            else:
                weight.add_(noise * 0.2)
    return module.eval()  # type: ignore[no-untyped-call,no-any-return]


def _twin(reference: PreTrainedModel, config: PretrainedConfig) -> TorchModel:
    own = type(config).from_dict(config.to_dict())
    module = AutoModelForCausalLM.from_config(own, dtype=torch.float32, attn_implementation=ATTENTION)  # type: ignore[no-untyped-call]
    module.load_state_dict(reference.state_dict())
    fix_rope(module, own, _CONTEXT)
    return TorchModel(module, own, torch.float32, "cpu")


@torch.inference_mode()
def _logits(reference: PreTrainedModel, text: list[int]) -> Tensor:
    logits: Tensor = reference(torch.tensor([text])).logits[0]
    return logits


def _tree(text: list[int], nodes: list[int]) -> tuple[list[list[int]], np.ndarray]:
    """Return the text that ends with each node, and which nodes each one sees."""
    visible = np.eye(len(nodes), dtype=np.bool_)
    paths: list[list[int]] = []
    for node, parent in enumerate(_PARENTS):
        if parent >= 0:
            visible[node] |= visible[parent]
        paths.append([*(paths[parent] if parent >= 0 else text), nodes[node]])
    return paths, visible


def _line(error: Exception) -> str:
    return f"{type(error).__name__}: {str(error)[:200]}".splitlines()[0]


# -- stored outcomes -----------------------------------------------------------------------------------------


def _key(small: PretrainedConfig) -> str:
    settings = {key: value for key, value in small.to_dict().items() if key != "transformers_version"}
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True, default=str).encode()).hexdigest()[:16]
    versions = f"transformers {transformers.__version__}, specexec-desktop {version('specexec-desktop')}"
    return f"{small.model_type} {digest}, {versions}"


def _outcomes() -> dict[str, str]:
    """Return the stored outcomes by `_key`: "" for equal models. An unreadable file counts as none."""
    try:
        return read_json(_file(), dict[str, str])
    except (OSError, ValueError):
        return {}


def _store(outcomes: dict[str, str]) -> None:
    try:
        _file().parent.mkdir(parents=True, exist_ok=True)
        write_whole(_file(), json.dumps(outcomes, indent=1).encode())
    except OSError as error:
        log.warning("%s cannot be written: %s.", _file(), error.strerror)


def _file() -> Path:
    return platformdirs.user_cache_path("specexec-desktop", appauthor=False) / "architectures.json"

"""The target's pass over root + tree, and the walk that accepts nodes. Works the same for every drafter.

Starting at the root, the next token is sampled from the target's own distribution at the current node. If it
is a child, the walk continues there; if not, it is the bonus token and the walk ends. So the committed tokens
are those of plain decoding, whatever the tree was (docs/design.md, section 3).
"""

import time
from collections.abc import Callable
from collections.abc import Sequence as Ids
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from engine.arrays import Array, as_float, is_on_card, like, log_softmax, namespace, on_host, top
from engine.decoding.judgement import judge
from engine.decoding.node_logits import BATCH, LateLogits, NodeLogits, PassLogits
from engine.decoding.pass_thread import PassThread
from engine.decoding.rejection import reject
from engine.decoding.verdict import EndedPass, LogProbs, Pending, Verdict
from engine.drafting import Drafter, Feedback, Lanes, Needs, TreeProposal
from engine.errors import BadNumbers
from engine.model.interface import Progress, no_progress
from engine.model.rows import Output
from engine.model.sequence import Sequence
from engine.sampling import MORE_CANDIDATES, NOT_NUMBERS, Sampler, TokenHistory, best_tokens
from engine.tree import ROOT, TokenTree

JUDGING_SHARE = 0.01  # time for judging nodes, as a share of the time that the pass took


class TargetVerifier:
    """A verifier that runs the target. Rows computed earlier for the start of a prompt are reused."""

    def __init__(
        self,
        target: Sequence,
        sampler: Sampler,
        log_probs: int | None = None,
        judged: int = 0,
        progress: Progress = no_progress,
        ahead: bool = False,
        reused: int | None = None,
    ) -> None:
        """log_probs: number of best tokens whose log-probabilities are reported beside that of the chosen
        token; None: report no log-probabilities at all. judged: number of best nodes of each tree to judge,
        in addition to the accepted ones; 0: judge no nodes. progress: called during each pass over a tree.
        ahead: run each of these passes in a thread of its own, so that a drafter can draft ahead. reused: how
        many tokens at the start of the prompt need not be read anew; None: all but the last, at most."""
        self._target = target
        self._sampler = sampler
        self._log_probs = log_probs
        self._judged = judged
        self._progress = progress
        self._ahead = ahead
        self._reused = reused

    @property
    def capacity(self) -> int:
        return self._target.cache.capacity

    def read(self, prompt: Ids[int], drafter: Drafter, progress: Progress) -> Pending:
        reusable = min(len(prompt) - 1, drafter.covers(prompt))
        known = self._target.align(prompt[:reusable][: self._reused])

        def run(reported: Progress) -> Output:
            return self._target.read(prompt[known:], drafter.needs.hidden_layers, reported)

        def choose(output: Output) -> Verdict:
            logits = PassLogits(output.logits)
            choices = Choices(self._sampler, logits, prompt, TokenTree.empty())
            feedback = feedback_of(prompt[-1:], output.logits, output.hidden, drafter.needs)
            return replace(self._verdict([], choices(ROOT), feedback, logits), reused=known)

        return self._launch(run, choose, progress)

    def launch(self, context: Ids[int], proposal: TreeProposal, progress: Progress) -> Pending:
        started = time.perf_counter()
        tree, lanes, needs = proposal.tree, proposal.lanes, proposal.needs
        rows = 1 + len(tree)
        if rows + len(lanes) > self._target.cache.free:
            lanes = Lanes.none()
        root = len(context) - 1
        tokens = [context[-1], *tree.tokens.tolist(), *lanes.tokens.tolist()]
        positions = [root, *(root + tree.depths).tolist(), *(root + lanes.depths).tolist()]
        model = self._target.model
        # Where a drafter learns from the choices at every node, all are needed.
        late = model.late_head if rows > BATCH and not needs.top_tokens and not len(lanes) else None
        layers = (*needs.hidden_layers, *([model.layers] if late else []))

        def run(reported: Progress) -> Output:
            mask = visible(tree, lanes)
            return self._target.consider(tokens, positions, mask, layers, reported, logits=late is None)

        def choose(output: Output) -> Verdict:
            logits: NodeLogits
            if late:
                logits = LateLogits(tree, output.hidden[model.layers], late)
            else:
                logits = PassLogits(output.logits[:rows])
            if needs.rejection:
                assert proposal.drawn is not None
                accepted, bonus = reject(logits, context, tree, proposal.drawn, self._sampler)
            else:
                accepted, bonus = accept(Choices(self._sampler, logits, context, tree), tree)
            hidden = {layer: output.hidden[layer][:rows] for layer in needs.hidden_layers}
            feedback = replace(
                feedback_of(tokens[:rows], output.logits[:rows], hidden, needs),
                lanes=on_host(namespace(output.logits).argmax(output.logits[rows:], axis=-1)),
                path=[0, *(node + 1 for node in accepted)],
            )
            verdict = self._verdict(accepted, bonus, feedback, logits, tree)
            if self._judged:
                seconds = JUDGING_SHARE * (time.perf_counter() - started)
                judgement = judge(logits, tree, accepted, self._judged, seconds)
                verdict = replace(verdict, judgement=judgement)
            return verdict

        def report(done: int, total: int) -> None:
            progress(done, total)
            self._progress(done, total)

        return self._launch(run, choose, report)

    def _launch(
        self, run: Callable[[Progress], Output], choose: Callable[[Output], Verdict], progress: Progress
    ) -> Pending:
        if self._ahead:
            model = self._target.model

            def run_apart(reported: Progress) -> Output:
                with model.apart():
                    return run(reported)

            on_card = model.device != "cpu"
            return PassThread(run_apart, choose, model.streamer, progress, gives_way=on_card)
        output = run(progress)
        return EndedPass(lambda: choose(output))

    def commit(self, nodes: Ids[int], tokens: Ids[int]) -> None:
        self._target.keep([0, *(node + 1 for node in nodes)], tokens)

    def _verdict(
        self,
        accepted: list[int],
        bonus: int,
        feedback: Feedback,
        logits: NodeLogits,
        tree: TokenTree | None = None,
    ) -> Verdict:
        if self._log_probs is None:
            return Verdict(accepted, bonus, feedback, [])
        tokens = [*(tree.tokens[accepted].tolist() if tree else []), bonus]
        rows = logits.at([ROOT, *accepted])
        return Verdict(accepted, bonus, feedback, log_probs_of(rows, tokens, self._log_probs))


class Choices:
    """The tokens that the target chooses, one at each node. On a graphics card, those of all nodes are
    computed at once, with one copy to the host; on a CPU, and where each node has a mask, only those of the
    nodes that the walk visits."""

    def __init__(self, sampler: Sampler, logits: NodeLogits, context: Ids[int], tree: TokenTree) -> None:
        """context: every token id up to the root."""
        self._sampler = sampler.behind(context)
        self._logits = logits
        self._context = context
        self._tree = tree
        nodes = [ROOT, *range(len(tree))]
        at_once = is_on_card(logits.at([ROOT])) and sampler.masks is None
        self._chosen = dict(zip(nodes, self._choose(nodes), strict=True)) if at_once else {}

    def __call__(self, node: int) -> int:
        """Return the token chosen at `node`. Raises BadNumbers if the logits there are not finite."""
        token: int = self._chosen.get(node, MORE_CANDIDATES)
        if token == MORE_CANDIDATES:
            (token,) = self._choose([node])
        if token == MORE_CANDIDATES:
            (token,) = self._choose([node], candidates=self._logits.at([node]).shape[-1])
        if token == NOT_NUMBERS:
            raise BadNumbers
        return token

    def _choose(self, nodes: list[int], **how: int) -> list[int]:
        tree = self._tree
        paths = [tree.path(node) for node in nodes] if self._sampler.looks_back else [[] for _ in nodes]
        history = TokenHistory(self._context, [tree.tokens[path].tolist() for path in paths])
        depths = [0 if node == ROOT else int(tree.depths[node]) for node in nodes]
        positions = [len(self._context) + depth for depth in depths]
        rows = self._logits.at(nodes)
        chosen: list[int] = self._sampler.choose(rows, positions, history, **how).tolist()
        return chosen


def accept(choice: Callable[[int], int], tree: TokenTree) -> tuple[list[int], int]:
    """Walk down from the root, always to the child that the target chooses, until its choice is not a child;
    return the nodes on the way, without the root, and that last choice."""
    children = tree.children()
    accepted: list[int] = []
    node = ROOT
    while True:
        token = choice(node)
        child = children.get((node, token))
        if child is None:
            return accepted, token
        accepted.append(child)
        node = child


def visible(tree: TokenTree, lanes: Lanes) -> NDArray[np.bool_]:
    """Return which row sees which in a pass over root, tree and lanes, bool [rows, rows]."""
    rows = 1 + len(tree)
    mask = np.zeros((rows + len(lanes),) * 2, np.bool_)
    mask[:rows, :rows] = tree.rows_mask()
    mask[rows:, rows:] = lanes.visible
    mask[:, 0] = True
    return mask


def feedback_of(tokens: Ids[int], logits: Array, hidden: dict[int, Array], needs: Needs) -> Feedback:
    """Select the results that the drafter needs. logits: [rows, vocabulary] at the rows of `tokens`."""
    tokens_there, log_probs = best_tokens(logits, needs.top_tokens)
    return Feedback(
        np.array(tokens, np.int64),
        on_host(tokens_there),
        on_host(log_probs),
        hidden,
        np.empty(0, np.int64),
    )


def log_probs_of(logits: Array, tokens: Ids[int], count: int) -> list[LogProbs]:
    """Return the log-probabilities to report at each row. logits: [rows, vocabulary]; tokens: the token
    chosen at each row; count: number of best tokens to report beside the chosen one."""
    log_probs = log_softmax(as_float(logits))
    own = like(logits, tokens)[:, None]
    chosen = on_host(namespace(logits).take_along_axis(log_probs, own, axis=-1))[:, 0].tolist()
    values, best = top(log_probs, min(count, logits.shape[-1]))
    tops = zip(on_host(best).tolist(), on_host(values).tolist(), strict=True)
    return [
        LogProbs(value, list(zip(ids, values, strict=True)))
        for value, (ids, values) in zip(chosen, tops, strict=True)
    ]

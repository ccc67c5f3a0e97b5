"""The rules that set the limits of each tree, kept from one answer of a session to the next."""

from dataclasses import replace
from typing import NamedTuple

from engine import firsts, protocol
from engine.decoding.ahead import Payoff, ahead_rule, hindrance
from engine.decoding.budget import START, AutoLimits, FixedLimits, Overridden, Replayed
from engine.decoding.chain_length import ChainLength
from engine.decoding.cost import WorkDone
from engine.decoding.gains import BUDGETS
from engine.decoding.iteration import Rule
from engine.decoding.regrowth import Regrown
from engine.drafting import Drafter
from engine.errors import BadOption
from engine.planner import TreePlan
from engine.serving.pair import LoadedPair


class AnswerRule(NamedTuple):
    """The rule that sets the limits of each tree of an answer. Attributes: `ahead`: whether the drafter may
    go on while the target verifies; `hindrance`: why it cannot, where it was to."""

    rule: Rule
    ahead: bool = False
    hindrance: protocol.Hindrance | None = None


class TreeRules:
    """The rules of each drafter of a pair, with what they have learnt."""

    def __init__(self, pair: LoadedPair, trees: TreePlan) -> None:
        """trees: what the pair's plan says of them."""
        self._pair = pair
        self._trees = trees
        self._learnt: dict[str, Rule] = {}  # by drafter
        self._payoffs: dict[str, Payoff] = {}  # by drafter: whether it pays that it goes on in passes

    def of(self, drafter: Drafter, options: protocol.Options) -> AnswerRule:
        """Return the rule of an answer. Raises BadOption."""
        rule = self._limits(drafter, options)
        if options.recording:
            return AnswerRule(Regrown(rule, options.recording, self._most))
        if options.budgets:
            rule = Replayed(rule, [min(budget, self._most) for budget in options.budgets])
        target = self._pair.target.model
        moving = self._trees.is_moving
        ahead = ahead_rule(options.overlap, drafter, target, rule, self._payoffs, moving)
        if ahead is not None:
            return AnswerRule(ahead, ahead=True)
        return AnswerRule(rule, hindrance=hindrance(drafter, target) if options.overlap == "on" else None)

    def _limits(self, drafter: Drafter, options: protocol.Options) -> Rule:
        """Return the rule that sets the limits of each tree: those that the user fixed, or limits learned for
        this drafter on this machine.

        Raises BadOption if the user fixed a budget for which there is no memory. Where one is only replayed,
        trees are as large as there is memory for, which changes no token.
        """
        most = self._most
        requested = {"budget": options.budget, "beams": options.beams, "depth": options.depth}
        fixed = {name: limit for name, limit in requested.items() if limit is not None}
        if drafter.defaults.budget == 0:
            return FixedLimits(drafter.defaults)
        if options.budget is not None and options.budget > most:
            raise BadOption(
                f"There is no memory for trees of {options.budget:,} nodes: they may have {most:,}.",
                "Set a smaller --budget, or leave it to the engine; or close other programs and load the "
                "model again.",
            )
        default = replace(drafter.defaults, budget=min(drafter.defaults.budget, most))
        if "budget" in fixed or (drafter.needs.rejection and not drafter.is_chain):
            return FixedLimits(replace(default, **fixed))
        if drafter.name not in self._learnt:
            most = min(most, (self._pair.target.model.tree_rows or BUDGETS[-1] + 1) - 1)
            planned = self._trees.first or default.budget
            first = replace(default, budget=min(max(START, planned), most))
            self._learnt[drafter.name] = (
                ChainLength(default)
                if drafter.is_chain
                else AutoLimits(first, most, self._trees.computing_s, self._work)
            )
        rule = self._learnt[drafter.name]
        if isinstance(rule, AutoLimits):
            rule.begin()
        return Overridden(rule, fixed) if fixed else rule

    @property
    def _most(self) -> int:
        """How many nodes a tree may have: as many as there is memory for in the plan, and as a pass of each
        model has room for beside the root."""
        rows = [each.cache.pass_rows for each in self._pair.sequences]
        return min([self._trees.most, *(each - 1 for each in rows if each is not None)])

    def _work(self) -> WorkDone:
        """Return what the models have done so far."""
        experts = self._pair.target.model.experts
        return WorkDone(experts.misses + experts.late if experts else 0, firsts.count())

"""Training of a draft model or of heads for any target, as `specexec train-draft` does it.

It needs no data set: the target generates questions and answers, and the student learns the target's
distributions.
"""

from engine.training.recipe import Made, Order, make_draft
from engine.training.trainer import TrainingSchedule

__all__ = ["Made", "Order", "TrainingSchedule", "make_draft"]

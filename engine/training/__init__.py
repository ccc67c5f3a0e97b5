"""Makes a draft, or heads, for any target, without a data set: the target makes up questions and answers
them, and the student learns the distributions it gave. `specexec train-draft`.
"""

from engine.training.making import Made, Order, make_draft
from engine.training.trainer import Schedule

__all__ = ["Made", "Order", "Schedule", "make_draft"]

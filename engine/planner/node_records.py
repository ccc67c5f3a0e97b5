"""Memory for the records of nodes, which layers with states keep until the target has chosen."""

from engine.planner.run_rows import AHEAD_RECORDS_NBYTES, DROPPED_RECORDS


def records_nbytes(of_row: int, budget: int, drafts: bool, anew: bool) -> int:
    """Return the bytes that a model's records take for a tree of `budget` nodes.

    of_row: bytes of one record; 0 if no layer has states. drafts: whether the model grows the tree, and
    keeps records of nodes that the tree has dropped; if not, it verifies the tree, with its root. anew:
    whether each pass writes the records of all layers anew, beside the old ones, as through torch.
    """
    records = budget + (DROPPED_RECORDS if drafts else 1)
    return _at_once(anew) * records * of_row


def ahead_records_nbytes(of_row: int, anew: bool) -> int:
    """Return the bytes that a draft's records take of nodes that grow while the target verifies a tree.
    of_row, anew: as for `records_nbytes`."""
    return _at_once(anew) * AHEAD_RECORDS_NBYTES if of_row else 0


def takes_turns(on_card: bool, states: int) -> bool:
    """Return whether no nodes grow while a target verifies a tree: on a card, passes over states run beside
    no others. states: bytes of the target's."""
    return on_card and states > 0


def _at_once(anew: bool) -> int:
    return 2 if anew else 1

"""Steps that route rows to experts: each row's choice, and the rows that chose each expert, side by side.

A *choice* is one row's use of one expert. All choices of a pass have places: those of an expert lie one after
another, in the order of their rows, and experts in the order of their numbers. So an expert's weights are
read once for all rows that chose it, and its rows are multiplied like the rows of any product.
"""

import numpy as np

from engine.compiled.instructions import floats_at, ints_at
from engine.compiled.steps import ROWS, F, as_float, exp, sigmoid
from engine.formats.jit import helper

# The arguments of a routing, int64 each; its address is an argument of every step of a mixture.
# CHOSEN, SHARES: addresses of each row's experts, int64 [rows, k], the likeliest first, and of their shares,
# float32 [rows, k]. PLACES: address of the place of each choice, int64 [rows, k]. ROW_OF, USED_OF: addresses
# of the row of each place, and of the number of its expert among the used ones, int64 [rows * k]. USED,
# STARTS: addresses of the used experts, int64 [experts], and of the first place of each, int64 [experts + 1].
# FIRST, LAST: the used experts, as places in USED, that the products multiply by now.
CHOSEN, SHARES, PLACES, ROW_OF, USED_OF, USED, STARTS, FIRST, LAST = range(9)
ROUTING = 9

# How the scores of a row become shares: their softmax, over all experts or over the chosen ones, or their
# sigmoids, as they are or divided by the sum of the chosen ones.
SOFTMAX, SOFTMAX_OF_CHOSEN, SIGMOID, SIGMOID_OF_CHOSEN = range(4)


@helper
def leave_best_groups(scores, corrections, corrected, groups, size, kept):  # type: ignore[no-untyped-def]
    """Overwrite the scores of all groups of `size` experts but the `kept` best ones by -inf. A group is as
    good as the sum of its two largest scores with their corrections; of equal ones, the first is the better.
    Scores that are NaN stay."""
    for _ in range(groups - kept):
        worst, least = -1, F(np.inf)
        for group in range(groups):
            first, second = F(-np.inf), F(-np.inf)
            for expert in range(group * size, (group + 1) * size):
                score = scores[expert]
                if corrected:
                    score += corrections[expert]
                if score > first:
                    first, second = score, first
                elif score > second:
                    second = score
            if first > F(-np.inf) and first + second <= least:
                worst, least = group, first + second
        if worst >= 0:
            for expert in range(worst * size, (worst + 1) * size):
                if scores[expert] == scores[expert]:
                    scores[expert] = F(-np.inf)


def route_step(me, threads, arguments):  # type: ignore[no-untyped-def]
    """Choose the k experts with the largest scores for each row, of equal ones that with the lowest number,
    and their shares.

    Arguments: state; routing; scores, float32, which are overwritten; bytes from one row to the next;
    experts; k; how scores become shares; address of biases of the scores, float32 [experts], or 0; address of
    corrections, which are added to the scores for the choice only, in the same form; factor of shares (bits);
    number of groups of neighbouring experts; number of these groups in which a row chooses; what is added to
    the sum of the chosen scores before shares are divided by it (bits).

    If a score of a row is NaN, so are all of its shares, and the same expert may stand at several places of
    its choice.
    """
    a = ints_at(arguments)
    rows, routing, experts, k, kind = ints_at(a[0])[ROWS], ints_at(a[1]), a[4], a[5], a[6]
    biases, corrections, factor, epsilon = floats_at(a[7]), floats_at(a[8]), as_float(a[9]), as_float(a[12])
    for row in range(me, rows, threads):
        scores = floats_at(a[2] + row * a[3])
        chosen, shares = ints_at(routing[CHOSEN] + 8 * row * k), floats_at(routing[SHARES] + 4 * row * k)
        if a[7]:
            for expert in range(experts):
                scores[expert] += biases[expert]
        if kind >= SIGMOID:
            for expert in range(experts):
                scores[expert] = sigmoid(scores[expert])
        leave_best_groups(scores, corrections, a[8], a[10], experts // a[10], a[11])
        for i in range(k):
            chosen[i], shares[i] = i, F(-np.inf)
        total = F(0.0)
        for expert in range(experts):
            score = scores[expert]
            if a[8]:
                score += corrections[expert]
            if score != score:
                total = score
            if not score > shares[k - 1]:
                continue
            place = k - 1
            while place > 0 and shares[place - 1] < score:
                chosen[place], shares[place] = chosen[place - 1], shares[place - 1]
                place -= 1
            chosen[place], shares[place] = expert, score
        top = shares[0]
        for i in range(k):
            score = scores[chosen[i]]
            shares[i] = exp(score - top) if kind < SIGMOID else score
        if kind == SOFTMAX:
            for expert in range(experts):
                total += exp(scores[expert] - top)
        elif kind == SIGMOID:
            total += F(1.0)
        else:
            for i in range(k):
                total += shares[i]
            total += epsilon
        for i in range(k):
            shares[i] = factor * shares[i] / total


def group_step(me, threads, arguments):  # type: ignore[no-untyped-def]
    """Give each choice its place. One thread does so: it takes less time than another barrier.

    Arguments: state; routing; experts; k.
    """
    if me:
        return
    a = ints_at(arguments)
    routing, experts, choices = ints_at(a[1]), a[2], ints_at(a[0])[ROWS] * a[3]
    chosen, places = ints_at(routing[CHOSEN]), ints_at(routing[PLACES])
    row_of, used_of = ints_at(routing[ROW_OF]), ints_at(routing[USED_OF])
    used, starts = ints_at(routing[USED]), ints_at(routing[STARTS])
    for expert in range(experts + 1):
        starts[expert] = 0
    for choice in range(choices):
        starts[chosen[choice]] += 1
    place, count = 0, 0
    for expert in range(experts):  # the number of an expert's choices becomes the place after its last
        place += starts[expert]
        starts[expert] = place
    for choice in range(choices - 1, -1, -1):
        expert = chosen[choice]
        starts[expert] -= 1
        places[choice] = starts[expert]
        row_of[starts[expert]] = choice // a[3]
    starts[experts] = choices
    for expert in range(experts):
        first, last = starts[expert], starts[expert + 1]
        if first == last:
            continue
        for place in range(first, last):
            used_of[place] = count
        used[count], starts[count] = expert, first
        count += 1
    starts[count] = choices
    routing[FIRST], routing[LAST] = 0, count

"""The command line of the campaign. Exit status: 1 if anything was raw or lost, else 0."""

import argparse
import secrets
import sys

from tests.campaign.attack import load, names
from tests.campaign.runner import Tally, run, table


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.campaign", description=__doc__)
    parser.add_argument("--minutes", type=float, help="minutes in all (default: fixed numbers of tries)")
    parser.add_argument("--seed", help="seed (default: a random one with --minutes, else “fixed”)")
    parser.add_argument("--only", action="append", choices=names(), metavar="NAME", help=", ".join(names()))
    parser.add_argument("--first", type=int, default=0, help="number of the first try (default: 0)")
    parser.add_argument("--tries", type=int, default=0, help="tries of each attack")
    given = parser.parse_args()
    seed = given.seed or (secrets.token_hex(4) if given.minutes else "fixed")
    chosen = [load(name) for name in given.only or names()]
    seconds = given.minutes * 60 / len(chosen) if given.minutes else 0.0
    tallies: list[Tally] = []
    print(f"seed {seed}", flush=True)
    for attack in chosen:
        print(f"{attack.name}: {attack.title}", flush=True)
        tries = given.tries or (0 if seconds else attack.fixed)
        tallies.append(run(attack, seed, first=given.first, tries=tries, seconds=seconds, say=_say))
    print("\n".join(table(tallies)))
    return 1 if any(each.harmful for each in tallies) else 0


def _say(line: str) -> None:
    print(f"  {line}", flush=True)


if __name__ == "__main__":
    sys.exit(main())

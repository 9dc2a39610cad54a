"""What stands in the way of a release, and how the operator hears of it."""

import sys
from typing import NamedTuple


class Problem(NamedTuple):
    """Something that the account or the stack lacks."""

    what: str
    remedy: str
    # Whether nothing must be released before it is solved.
    is_fatal: bool = True


def report(problems):
    """Prints the problems. Returns whether one of them is fatal."""
    problems = list(problems)
    for problem in problems:
        print(f"{'!!' if problem.is_fatal else '--'}  {problem.what}\n{problem.remedy}", file=sys.stderr, flush=True)
    return any(problem.is_fatal for problem in problems)

"""Compares an OpenAPI document with that of the last release.

Usage: main.py OLD NEW WANTED. Prints additions as a changelog. Fails on what breaks clients unless WANTED names it, and on what
WANTED names in vain.
"""

import json
import re
import sys
import tomllib
from pathlib import Path

from operations import compare
from rules import BREAKS


def wanted_breaks(path):
    """The breaks that a file names, which must give a reason for each."""
    named = tomllib.loads(Path(path).read_text(encoding="utf-8")).get("break", [])
    for one in named:
        if set(one) != {"rule", "places", "reason"} or one["rule"] not in BREAKS or not one["reason"].strip():
            raise SystemExit(f"{path}: a break has a rule, places and a reason, and nothing else: {one}")
    return [(one["rule"], place) for one in named for place in one["places"]]


def is_named(finding, one):
    # Paths have braces and lists have brackets, which are no patterns here: only * is.
    rule, place = one
    pattern = ".*".join(map(re.escape, place.split("*")))
    return finding.rule == rule and re.fullmatch(pattern, finding.place) is not None


def judge(findings, wanted):
    """The findings as additions, breaks that are wanted and breaks that are not, and what is named in vain."""
    breaks = [finding for finding in findings if finding.breaks]
    meant = [finding for finding in breaks if any(is_named(finding, one) for one in wanted)]
    vain = [one for one in wanted if not any(is_named(finding, one) for finding in breaks)]
    additions = [finding for finding in findings if not finding.breaks]
    return additions, meant, [finding for finding in breaks if finding not in meant], vain


def main(old, new, wanted):
    old, new = (json.loads(Path(path).read_text(encoding="utf-8")) for path in (old, new))
    named = wanted_breaks(wanted)
    additions, meant, breaks, vain = judge(compare(old, new), named)
    for title, findings in (("Added", additions), ("Broken on purpose", meant), ("Broken", breaks)):
        if findings:
            print(f"\n{title} since the last release:\n")
            print("\n".join(f"- {finding}" for finding in findings))
    for rule, place in vain:
        print(f"\n{wanted} names {rule} at {place}, which nothing breaks any more. Remove it.", file=sys.stderr)
    if breaks:
        print(f"\n{len(breaks)} changes break clients. Undo them, or name them in {wanted} with a reason.", file=sys.stderr)
    print(f"\n{len(additions)} additions, {len(meant)} breaks on purpose, {len(breaks)} other breaks")
    return 1 if breaks or vain else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

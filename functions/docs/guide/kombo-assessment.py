#!/usr/bin/env python3
"""Makes an update of an assessment order, in the contract of Kombo (PUT /assessment/orders/{id}/result), from a candidate and their result.

Usage: TOKEN=… python3 kombo-assessment.py CANDIDATE           prints the update of the candidate with this URL
       TOKEN=… python3 kombo-assessment.py CANDIDATE --cancel  cancels the interview first, as the order was cancelled

TOKEN is a named token that may read the candidate; to cancel, one that manages the project.
"""

import datetime
import json
import os
import sys
import urllib.error
import urllib.request

# Orders that are COMPLETED or CANCELLED never change again, so only final statuses map to these: candidates who missed a deadline may
# get another.
OPEN, COMPLETED, CANCELLED = "OPEN", "COMPLETED", "CANCELLED"
STATUSES = {
    "new": OPEN,
    "invited": OPEN,
    "confirmed": OPEN,
    "interviewing": OPEN,
    "interviewed": OPEN,  # COMPLETED once it is evaluated.
    "expired": OPEN,
    "aborted": OPEN,
    "skipped": CANCELLED,
}


def call(url, body=None):
    """The resource at a URL, after a POST if there is a body; None if it does not exist, or not yet."""
    headers = {"Authorization": f"Token {os.environ['TOKEN']}", "Content-Type": "application/json"}
    request = urllib.request.Request(url, body and json.dumps(body).encode(), headers)
    try:
        with urllib.request.urlopen(request) as response:
            return json.load(response)
    except urllib.error.HTTPError as refused:
        told = json.load(refused)
        # The candidate has completed the interview, which the status tells.
        if refused.code == 404 or told.get("code") == "already_interviewed":
            return None
        raise SystemExit(f"{url}: {refused.code} {told}") from refused


def order_status(candidate):
    if candidate["status"] == "interviewed" and candidate["evaluation_status"] == "completed":
        return COMPLETED
    return STATUSES[candidate["status"]]


def text(label, value):
    return {"type": "TEXT", "label": label, "value": value}


def sub_result(identifier, label, rating, maximum):
    score = {"value": rating, "max": maximum}
    return {"type": "SUB_RESULT", "id": identifier, "label": label, "score": score, "status": "COMPLETED"}


def attributes(candidate, result, criteria):
    """Our own status, the parts of the score, and what evaluators recommend: the order has no fields for these."""
    yield text("Interview", candidate["status"])
    if result is None:
        return
    for part in result["question_results"] or []:
        if part["average_rating"] is not None:
            yield sub_result(part["question"], part["question_text"], part["average_rating"], result["maximum_score"])
    for part in result["criteria_results"] or []:
        if part["average_rating"] is not None:
            yield sub_result(part["criterion"], criteria[part["criterion"]], part["average_rating"], result["maximum_score"])
    for evaluation in result["evaluations"] or []:
        if evaluation["recommendation"]:
            yield text("Recommendation", evaluation["recommendation"])
    for veto in result["vetos"] or []:
        yield text("Veto", veto["comment"] or "without a comment")


def update(candidate, result, criteria):
    """The body of the update. `result` is None until there is an evaluation; `criteria` are the names of the project's by their URLs."""
    status = order_status(candidate)
    body = {"status": status, "result_url": candidate["interview_suite_url"]}
    if status != OPEN:
        # Callers who do not manage the project see no cancellation, and candidates who were skipped have none.
        known = candidate["interviewdate"] or (candidate.get("cancellation") or {}).get("at")
        body["completed_at"] = known or datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    if result is not None and result["overall_rating"] is not None:
        body |= {"score": result["overall_rating"], "max_score": result["maximum_score"]}
    return body | {"attributes": list(attributes(candidate, result, criteria))}


if __name__ == "__main__":
    own = sys.argv[1]
    if sys.argv[2:] == ["--cancel"]:
        call(f"{own}cancel/", {"reason": "The order was cancelled in the ATS."})
    found = call(own) or sys.exit(f"{own} does not exist")
    names = {one["resource_uri"]: one["name"] for one in call(f"{found['project']}criteria/")["objects"]}
    whole = call(f"{found['project']}results/{own.rstrip('/').rsplit('/', 1)[1]}/")
    print(json.dumps(update(found, whole, names), indent=2))

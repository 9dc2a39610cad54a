"""README's story, by a client that openapi-python-client has generated from the document.

The arguments are the service's program and the folder in which the generated package `client` is.
"""

import datetime
import importlib
import io
import json
import re
import sys
import time
import urllib.request
from http import HTTPStatus

from service import PATIENCE, PIXEL, identifier, running

program, folder = sys.argv[1:]
sys.path.insert(0, folder)

from client import AuthenticatedClient, Client, models
from client.types import File

PASSWORD = "correct horse battery"


def call(operation, *arguments, expected=HTTPStatus.OK, **named):
    """What an operation, such as `projects.create_project`, answers with."""
    module = importlib.import_module(f"client.api.{operation}")
    answer = module.sync_detailed(*arguments, **named)
    assert answer.status_code == expected, f"{operation}: {answer.status_code} {answer.content}"
    return answer.parsed


def log_in(base, company, username, password):
    body = models.LogInBody(company=company, username=username, password=password)
    token = call("authentication.log_in", client=Client(base), body=body)
    assert isinstance(token, models.Token)
    return AuthenticatedClient(base, token.token, prefix="Token")


def tell(base, kind, detail):
    """Puts an event of the platform's other parts on the bus."""
    event = {"source": "interview.platform", "detail-type": kind, "detail": detail}
    request = urllib.request.Request(
        base.replace("/api/v3", "/_local/events"), json.dumps(event).encode(), {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request) as answer:
        assert json.load(answer) == {"PlatformEventsFunction": "applied"}


def key_in_mail(mails_url, address):
    """The key that the link in the mail to an address ends with."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        with urllib.request.urlopen(mails_url) as answer:
            mails = [mail for mail in json.load(answer) if address in mail["to"]]
        if mails:
            return re.search(r"/register/([A-Za-z0-9_-]+)", mails[0]["text"])[1]
        time.sleep(0.1)
    raise AssertionError(f"no mail to {address}")


def story(ready):
    base, company = ready["base_url"], ready["company"]
    owner = log_in(base, company, ready["username"], ready["password"])
    caller = call("authentication.get_caller", client=owner)
    assert caller.kind == "customer" and isinstance(caller.resource, models.Customer)
    me = caller.resource.resource_uri

    body = models.CreateProjectBody(name="Backend engineer", evaluators=[me])
    project = call("projects.create_project", company, client=owner, body=body, expected=HTTPStatus.CREATED)
    assert project.status == "10-incomplete" and project.skipped_candidates_count == 0
    in_project = (company, project.id)
    run = models.ChangeProjectStatusBody(status=models.ChangeProjectStatusBodyStatus("40-running"))
    assert call("projects.change_project_status", *in_project, client=owner, body=run).status == "40-running"

    photo = File(io.BytesIO(PIXEL), "me.png", "image/png")
    body = models.CreateCandidateFilesBody(
        first_name="Grace", last_name="Hopper", email="grace@example.com", photo=photo
    )
    created = HTTPStatus.CREATED
    grace = call("candidates.create_candidate", *in_project, client=owner, body=body, expected=created)
    assert grace.first_name == "Grace" and grace.status == "new" and grace.photo
    on_grace = (*in_project, grace.id)
    address = (*on_grace, identifier(grace.photo))
    call("candidates.get_candidate_photo", *address, client=Client(base), expected=HTTPStatus.FOUND)

    refused = call("candidates.advance_candidate", *on_grace, client=owner, expected=HTTPStatus.BAD_REQUEST)
    assert isinstance(refused, models.Problem) and refused.code == "deadline_missing"
    deadline = models.SetDeadlineBody(deadline=datetime.datetime(2099, 12, 24, 17, tzinfo=datetime.UTC))
    assert call("candidates.set_deadline", *on_grace, client=owner, body=deadline).deadline == deadline.deadline
    assert call("candidates.advance_candidate", *on_grace, client=owner).status == "invited"

    key = key_in_mail(ready["mails_url"], "grace@example.com")
    by_key = AuthenticatedClient(base, key, prefix="ActivationKey")
    password = models.ChangeCandidateJsonBody(password=PASSWORD)
    call("candidates.change_candidate", *on_grace, client=by_key, body=password)
    assert call("candidates.advance_candidate", *on_grace, client=by_key).status == "confirmed"
    herself = log_in(base, company, "grace@example.com", PASSWORD)
    part = call("authentication.get_calling_candidate", client=herself)
    assert part.project.name == "Backend engineer" and part.seconds_until_deadline > 0
    assert call("candidates.advance_candidate", *on_grace, client=herself).status == "interviewing"

    tell(base, "interview.completed", {"candidate": grace.resource_uri})
    assert not call("projects.get_project", *in_project, client=owner).can_archive
    tell(base, "evaluation.recorded", {"candidate": grace.resource_uri, "customer": me, "completed": True})
    grace = call("candidates.get_candidate", *on_grace, client=owner)
    assert grace.status == "interviewed" and grace.evaluation_status == "completed"
    close = models.ChangeProjectStatusBody(status=models.ChangeProjectStatusBodyStatus("60-closed"))
    assert call("projects.change_project_status", *in_project, client=owner, body=close).status == "60-closed"

    candidates = call("candidates.list_candidates", *in_project, client=owner, page_size=10)
    assert candidates.meta.total_count == 1 and candidates.meta.next_ is None
    assert [one.last_name for one in candidates.objects] == ["Hopper"]
    found = call("search.search_candidates", company, client=owner, q="hop gra")
    assert [one.resource_uri for one in found] == [grace.resource_uri]
    projects = call("projects.list_projects", company, client=owner, expand=[models.ListProjectsExpandItem("evaluators")])
    assert [one.email for one in projects.objects[0].evaluators] == [caller.resource.email]


def refusals(ready):
    base, company = ready["base_url"], ready["company"]
    owner = log_in(base, company, ready["username"], ready["password"])
    label = models.CreateLabelBody(text="Senior")
    key = {"idempotency_key": "8e03978e"}
    created = HTTPStatus.CREATED
    first = call("companies.create_label", company, client=owner, body=label, expected=created, **key)
    again = call("companies.create_label", company, client=owner, body=label, expected=created, **key)
    assert again.resource_uri == first.resource_uri
    taken = call("companies.create_label", company, client=owner, body=label, expected=HTTPStatus.BAD_REQUEST)
    assert isinstance(taken, models.FieldErrors) and taken.additional_properties["text"]
    on_label = (company, first.id)
    other = models.ChangeLabelBody(text="Principal")
    overtaken = call(
        "companies.change_label",
        *on_label,
        client=owner,
        body=other,
        if_match='"9-0"',
        expected=HTTPStatus.PRECONDITION_FAILED,
    )
    assert overtaken.code == "precondition_failed"
    anonymous = call("companies.list_labels", company, client=Client(base), expected=HTTPStatus.UNAUTHORIZED)
    assert anonymous.code == "not_authenticated"
    call("companies.delete_label", *on_label, client=owner, expected=HTTPStatus.NO_CONTENT)
    gone = call("companies.get_label", *on_label, client=owner, expected=HTTPStatus.NOT_FOUND)
    assert gone.code == "not_found"


with running(program) as ready:
    story(ready)
    refusals(ready)
print("the generated client has told the story")

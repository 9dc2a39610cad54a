"""Nulls, pages and a key that is taken, by the generated client for Python. mypy checks this file strictly, and so that the types of
the client say what its callers need.

The argument is the service's program.
"""

import sys
from typing import assert_type

from client import AuthenticatedClient, Client, models
from client.api.authentication import log_in
from client.api.candidates import create_candidate, list_candidates
from client.api.projects import create_project
from client.types import UNSET, Unset
from service import running


def story(ready: dict[str, str]) -> None:
    base, company = ready["base_url"], ready["company"]
    login = models.LogInBody(company=company, username=ready["username"], password=ready["password"])
    # The generator takes an operation that may be authenticated for one that must be.
    token = log_in.sync(client=Client(base), body=login)  # type: ignore[arg-type]
    assert isinstance(token, models.Token)
    owner = AuthenticatedClient(base, token.token, prefix="Token")
    project = create_project.sync(company, client=owner, body=models.CreateProjectBody(name="Data engineer"))
    assert isinstance(project, models.NewProject)

    def create(first_name: str, external_id: str | None) -> object:
        body = models.CreateCandidateJsonBody(
            first_name=first_name, last_name="Byron", external_id=external_id, deadline=None
        )
        return create_candidate.sync(company, project.id, client=owner, body=body)

    ada = create("Ada", "4711")
    assert isinstance(ada, models.Candidate)
    assert ada.deadline is None and ada.interviewdate is None
    taken = create("Grace", "4711")
    assert isinstance(taken, models.ExternalIdTaken) and taken.code == "external_id_taken"
    assert taken.resource_uri == ada.resource_uri

    create("Grace", None)
    create("Jean", None)
    names: list[str] = []
    cursor: str | Unset | None = UNSET
    while cursor is not None:
        page = list_candidates.sync(company, project.id, client=owner, page_size=2, cursor=cursor)
        assert isinstance(page, models.ListOfCandidate)
        names += [assert_type(one.first_name, str) for one in page.objects]
        cursor = page.meta.cursor
    assert sorted(names) == ["Ada", "Grace", "Jean"], names


with running(sys.argv[1]) as ready:
    story(ready)
print("the types of the generated client are what its callers need")

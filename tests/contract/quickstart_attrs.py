"""The quickstart's ten requests, by the client that openapi-python-client has generated. mypy checks this file strictly.

The argument is what the service says of itself.
"""

import json
import sys

from client import AuthenticatedClient, Client, models
from client.api.authentication import get_caller, log_in
from client.api.candidates import import_candidates
from client.api.evaluations import create_question, get_result, save_evaluation
from client.api.interviews import get_interview
from client.api.projects import change_project_status, create_project
from client.api.webhooks import create_webhook
from service import Receiver, identifier, take_interview

ready = json.loads(sys.argv[1])
base, company = ready["base_url"], ready["company"]

login = models.LogInBody(company=company, username=ready["username"], password=ready["password"])
# The generator takes an operation that may be authenticated for one that must be.
token = log_in.sync(client=Client(base), body=login)  # type: ignore[arg-type]
assert isinstance(token, models.Token)
owner = AuthenticatedClient(base, token.token, prefix="Token")

caller = get_caller.sync(client=owner)
assert isinstance(caller, models.WhoAmI) and isinstance(caller.resource, models.Customer)
me = caller.resource

project = create_project.sync(
    company,
    client=owner,
    body=models.CreateProjectBody(
        name="Data engineer", external_id="REQ-1", evaluators=[me.resource_uri], default_interview_period=14
    ),
)
assert isinstance(project, models.NewProject)

question = create_question.sync(
    company,
    project.id,
    client=owner,
    body=models.CreateQuestionBody(text="Which bug are you proud of?", kind=models.CreateQuestionBodyKind.TEXT),
)
assert isinstance(question, models.Question)

run = models.ChangeProjectStatusBody(status=models.ChangeProjectStatusBodyStatus("40-running"))
running = change_project_status.sync(company, project.id, client=owner, body=run)
assert isinstance(running, models.ProjectStatusResource)
assert (running.status, running.warnings) == ("40-running", [])

receiver = Receiver(base)
webhook = create_webhook.sync(
    company, client=owner, body=models.CreateWebhookBody(url=receiver.url, types=["candidate.interviewed"])
)
assert isinstance(webhook, models.NewWebhook) and isinstance(webhook.secret, str)
receiver.verify(webhook.secret)

ada = models.ImportCandidatesBodyItem(
    first_name="Ada", last_name="Lovelace", external_id="A-17", receive_mails=False
)
report = import_candidates.sync(company, project.id, client=owner, body=[ada], idempotency_key="application-17")
assert isinstance(report, models.CandidateImport)
[row] = report.objects
assert row.status == "invited" and row.candidate

take_interview(row.interview_url)
event = models.CandidateInterviewedEvent.from_dict(json.loads(receiver.delivered()))
assert event.types == ["candidate.interviewed"]
assert (event.data.resource_uri, event.data.external_id) == (row.candidate, "A-17")

candidate = identifier(event.data.resource_uri)
interview = get_interview.sync(company, project.id, candidate, client=owner)
assert isinstance(interview, models.Interview)
assert [answer.text for answer in interview.answers] == ["The race in our scheduler."]

rating = models.SaveEvaluationBodyRatingsItem(question=question.resource_uri, value=4)
judgement = models.SaveEvaluationBody(
    completed=True, recommendation=models.SaveEvaluationBodyRecommendationType1.YES, ratings=[rating]
)
evaluation = save_evaluation.sync(company, project.id, candidate, me.id, client=owner, body=judgement)
assert isinstance(evaluation, models.Evaluation) and evaluation.completed

result = get_result.sync(company, project.id, candidate, client=owner)
assert isinstance(result, models.Result)
assert (result.overall_rating, result.maximum_score) == (4, 5)
print("the client of openapi-python-client has run the quickstart")

"""The quickstart's ten requests, by the models that datamodel-codegen has generated and a plain HTTP client.

The argument is what the service says of itself.
"""

import json
import sys

import models
from service import Api, Receiver, identifier, take_interview

ready = json.loads(sys.argv[1])
base, company = ready["base_url"], f"/companies/{ready['company']}"
api = Api(base)


def plain(model):
    """The JSON of what was set."""
    return model.model_dump(mode="json", exclude_unset=True)


def call(kind, method, path, body=None, headers=None):
    """Reads the answer as a model of this kind."""
    return kind.model_validate(api.send(method, path, body, headers))


login = models.LogInBody(company=ready["company"], username=ready["username"], password=ready["password"])
# Pydantic writes asterisks in place of a password.
secret = {"password": login.password.get_secret_value()}
api.authorization = f"Token {call(models.Token, 'POST', '/api-token-auth/', plain(login) | secret).token}"
me = call(models.WhoAmI, "GET", "/whoami/").resource
project = models.CreateProjectBody(
    name="Data engineer", external_id="REQ-3", evaluators=[str(me.resource_uri)], default_interview_period=14
)
project = call(models.NewProject, "POST", f"{company}/projects/", plain(project))
own = f"{company}/projects/{project.id}"
question = models.CreateQuestionBody(text="Which bug are you proud of?", kind="text")
question = call(models.Question, "POST", f"{own}/questions/", plain(question))
run = models.ChangeProjectStatusBody(status="40-running")
running = call(models.ProjectStatusResource, "PATCH", f"{own}/status/", plain(run))
assert (running.status.value, running.warnings) == ("40-running", []), running

receiver = Receiver(base)
webhook = models.CreateWebhookBody(url=receiver.url, types=["candidate.interviewed"])
webhook = call(models.NewWebhook, "POST", f"{company}/webhooks/", plain(webhook))
receiver.verify(webhook.secret)
ada = models.ImportCandidatesBodyItem(
    first_name="Ada", last_name="Lovelace", external_id="A-17", receive_mails=False
)
key = {"Idempotency-Key": "application-17"}
report = call(models.CandidateImport, "POST", f"{own}/candidates/import/", [plain(ada)], key)
[row] = report.objects
take_interview(row.interview_url)
event = models.CandidateInterviewedEvent.model_validate_json(receiver.delivered())
assert event.types == ["candidate.interviewed"], event
assert (event.data.resource_uri, event.data.external_id) == (row.candidate, "A-17"), event

candidate = identifier(str(event.data.resource_uri))
interview = call(models.Interview, "GET", f"{own}/candidates/{candidate}/interview/")
assert [answer.text for answer in interview.answers] == ["The race in our scheduler."], interview
rating = models.SaveEvaluationBodyRatingsItem(question=str(question.resource_uri), value=4)
evaluation = models.SaveEvaluationBody(completed=True, recommendation="yes", ratings=[rating])
evaluation = call(models.Evaluation, "PUT", f"{own}/candidates/{candidate}/evaluations/{me.id}/", plain(evaluation))
assert evaluation.completed, evaluation
result = call(models.Result, "GET", f"{own}/results/{candidate}/")
assert (result.overall_rating, result.maximum_score) == (4, 5), result
print("the models of datamodel-codegen have run the quickstart")

"""Reads and creates candidates, as a team would write it with boto3 and Powertools."""

import base64
import hashlib
import json
import os
import random
import time
from http import HTTPStatus
from typing import Annotated

import boto3
from aws_lambda_powertools.event_handler import (
    APIGatewayHttpResolver,
    Response,
    content_types,
)
from aws_lambda_powertools.event_handler.exceptions import (
    NotFoundError,
    ServiceError,
    UnauthorizedError,
)
from aws_lambda_powertools.utilities.parser import parse
from boto3.dynamodb.types import TypeDeserializer, TypeSerializer
from pydantic import AwareDatetime, BaseModel, StringConstraints, ValidationError
from ulid import ULID

TABLE = os.environ["TABLE_NAME"]
BASE_URL = os.environ["BASE_URL"]
READERS = ("evaluators", "interview_managers", "reviewers")
MANAGERS = ("interview_managers",)

# Outside of the handler, so that warm requests share its connections.
dynamodb = boto3.client("dynamodb")
app = APIGatewayHttpResolver(strip_prefixes=["/api/v3"])
deserialize, serialize = TypeDeserializer().deserialize, TypeSerializer().serialize

Name = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100)]
Email = Annotated[str, StringConstraints(max_length=254, pattern=r"^[^@\s]+@[^@\s]+\.[^@\s.]+$")]


class NewCandidate(BaseModel):
    first_name: Name
    last_name: Name
    email: Email | None = None
    deadline: AwareDatetime | None = None
    phone: Annotated[str, StringConstraints(max_length=50)] = ""
    gender: Annotated[str, StringConstraints(max_length=20)] = ""
    address: Annotated[str, StringConstraints(max_length=500)] = ""


def admit(company, project, candidate=None):
    """Loads session, user, project and, if given, candidate in one call, and returns them if the session is valid."""
    token = app.current_event.headers.get("authorization", "").removeprefix("Token ")
    claim = base64.urlsafe_b64decode(token.removeprefix("ivt_") + "===")
    if len(claim) < 41 or claim[0] != 1:
        raise UnauthorizedError("The token is invalid.")
    digest = base64.urlsafe_b64encode(hashlib.sha256(token.encode()).digest()).decode().rstrip("=")
    keys = [
        (f"SESSION#{digest}", f"SESSION#{digest}"),
        (f"COMPANY#{claim[41:].decode()}", f"CUSTOMER#{ULID(claim[1:17])}"),
        (f"COMPANY#{company}", f"PROJECT#{project}"),
    ]
    if candidate:
        keys.append((f"COMPANY#{company}#PROJECT#{project}", f"CANDIDATE#{candidate}"))
    request = {"Keys": [{"pk": {"S": pk}, "sk": {"S": sk}} for pk, sk in keys], "ConsistentRead": True}
    found = dynamodb.batch_get_item(RequestItems={TABLE: request})["Responses"][TABLE]
    items = {(item["pk"]["S"], item["sk"]["S"]): {k: deserialize(v) for k, v in item.items()} for item in found}
    session, user, *rest = (items.get(key) for key in keys)
    if (
        not (session and user and user["is_active"])
        or session["kind"] != "token"
        or session["expires_at"] <= time.time()
        or session["claim"]["account"]["customer"] != user["id"]
        or session["epoch"] != user["session_epoch"]
    ):
        raise UnauthorizedError("The token is invalid.")
    return user, *rest


def authorise(user, project, company, roles):
    if not project or user["company"] != company:
        raise NotFoundError()
    may_all = user["account_type"] in ("owner", "admin")
    if not may_all and not any(user["id"] in project["staff"][role] for role in roles):
        raise ServiceError(HTTPStatus.FORBIDDEN, "You do not have permission to perform this action.")


def show(candidate):
    own, profile = f"{BASE_URL}/companies/{candidate['company']}", candidate["profile"]
    by = candidate.get("created_by")
    return {
        "company": f"{own}/",
        "project": f"{own}/projects/{candidate['project']}/",
        "resource_uri": f"{own}/projects/{candidate['project']}/candidates/{candidate['id']}/",
        "first_name": profile["first_name"],
        "last_name": profile["last_name"],
        "email": profile["email"] or "",
        "status": candidate["status"],
        "invitationdate": candidate.get("invited_at"),
        "confirmationdate": candidate.get("confirmed_at"),
        "interviewdate": candidate.get("interviewed_at"),
        "deadline": profile["deadline"],
        "phone": profile["phone"],
        "gender": profile["gender"],
        "address": profile["address"],
        "created_by": f"{own}/customers/{by}/" if by else None,
    }


def respond(status, body):
    return Response(status, content_types.APPLICATION_JSON, json.dumps(body))


@app.get("/companies/<company>/projects/<project>/candidates/<candidate>/")
def read(company, project, candidate):
    user, stored_project, stored = admit(company, project, candidate)
    authorise(user, stored_project, company, READERS)
    if not stored:
        raise NotFoundError()
    return respond(HTTPStatus.OK, show(stored))


@app.post("/companies/<company>/projects/<project>/candidates/")
def create(company, project):
    user, stored_project = admit(company, project)
    authorise(user, stored_project, company, MANAGERS)
    profile = parse(event=app.current_event.body, model=NewCandidate).model_dump(mode="json")
    partition, new = f"COMPANY#{company}#PROJECT#{project}", str(ULID())
    candidate = {
        "pk": partition,
        "sk": f"CANDIDATE#{new}",
        "by_status_pk": f"{partition}#CANDIDATES#new",
        "by_status_sk": new,
        "id": new,
        "company": company,
        "project": project,
        "status": "new",
        "profile": profile,
        "created_by": user["id"],
        "session_epoch": 0,
        "version": 1,
    }
    put = {
        "TableName": TABLE,
        "Item": {name: serialize(value) for name, value in candidate.items()},
        "ConditionExpression": "attribute_not_exists(pk)",
    }
    count = {
        "TableName": TABLE,
        "Key": {"pk": {"S": partition}, "sk": {"S": f"TALLY#{random.randrange(4)}"}},
        "UpdateExpression": "ADD #count :one",
        "ConditionExpression": "attribute_exists(pk)",
        "ExpressionAttributeNames": {"#count": "status:new"},
        "ExpressionAttributeValues": {":one": {"N": "1"}},
    }
    dynamodb.transact_write_items(TransactItems=[{"Put": put}, {"Update": count}])
    return respond(HTTPStatus.CREATED, show(candidate))


@app.exception_handler(ValidationError)
def refuse(error):
    messages = {}
    for problem in error.errors(include_url=False):
        messages.setdefault(".".join(map(str, problem["loc"])), []).append(problem["msg"])
    return respond(HTTPStatus.BAD_REQUEST, messages)


def handler(event, context):
    return app.resolve(event, context)

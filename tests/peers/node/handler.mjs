// Reads and creates candidates, as a team would write it with the AWS SDK v3 and Zod.
import { createHash } from "node:crypto";
import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { BatchGetCommand, DynamoDBDocumentClient, TransactWriteCommand } from "@aws-sdk/lib-dynamodb";
import { ulid, uuidToULID } from "ulid";
import { z } from "zod";

const TABLE = process.env.TABLE_NAME;
const BASE_URL = process.env.BASE_URL;
// Outside of the handler, so that warm requests share its connections.
const dynamodb = DynamoDBDocumentClient.from(new DynamoDBClient({}), {
  marshallOptions: { removeUndefinedValues: true },
});

const PATH = /^\/api\/v3\/companies\/([a-z0-9-]+)\/projects\/([0-9A-Z]{26})\/candidates\/(?:([0-9A-Z]{26})\/)?$/;
const READERS = ["evaluators", "interview_managers", "reviewers"];
const MANAGERS = ["interview_managers"];

const NewCandidate = z.object({
  first_name: z.string().trim().min(1).max(100),
  last_name: z.string().trim().min(1).max(100),
  email: z.email().max(254).nullish(),
  deadline: z.iso.datetime({ offset: true }).nullish(),
  phone: z.string().max(50).default(""),
  gender: z.string().max(20).default(""),
  address: z.string().max(500).default(""),
});

class Refusal extends Error {
  constructor(status, body) {
    super(String(status));
    this.response = respond(status, body);
  }
}

const respond = (statusCode, body) => ({
  statusCode,
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
});

/** Loads session, user, project and, if given, candidate in one call, and returns them if the session is valid. */
async function admit(event, company, project, candidate) {
  const token = /^Token (ivt_[\w-]+)$/.exec(event.headers.authorization ?? "")?.[1];
  const claim = Buffer.from(token?.slice(4) ?? "", "base64url");
  if (claim[0] !== 1 || claim.length < 41) throw new Refusal(401, { detail: "The token is invalid." });
  const user = uuidToULID(claim.toString("hex", 1, 17).replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-"));
  const session = `SESSION#${createHash("sha256").update(token).digest("base64url")}`;
  const keys = [
    { pk: session, sk: session },
    { pk: `COMPANY#${claim.toString("utf8", 41)}`, sk: `CUSTOMER#${user}` },
    { pk: `COMPANY#${company}`, sk: `PROJECT#${project}` },
  ];
  if (candidate) keys.push({ pk: `COMPANY#${company}#PROJECT#${project}`, sk: `CANDIDATE#${candidate}` });
  const found = await dynamodb.send(new BatchGetCommand({ RequestItems: { [TABLE]: { Keys: keys, ConsistentRead: true } } }));
  const items = found.Responses[TABLE];
  const loaded = keys.map(({ pk, sk }) => items.find((item) => item.pk === pk && item.sk === sk));
  const isAlive =
    loaded[0]?.kind === "token" &&
    loaded[0].expires_at > Date.now() / 1000 &&
    loaded[1]?.is_active &&
    loaded[0].claim.account.customer === loaded[1].id &&
    loaded[0].epoch === loaded[1].session_epoch;
  if (!isAlive) throw new Refusal(401, { detail: "The token is invalid." });
  return { user: loaded[1], project: loaded[2], candidate: loaded[3] };
}

function authorise({ user, project }, company, roles) {
  if (!project || user.company !== company) throw new Refusal(404, { detail: "Not found." });
  const mayAll = ["owner", "admin"].includes(user.account_type);
  if (!mayAll && !roles.some((role) => project.staff[role].includes(user.id))) {
    throw new Refusal(403, { detail: "You do not have permission to perform this action." });
  }
}

function show(candidate) {
  const { company, project, id, profile } = candidate;
  const own = `${BASE_URL}/companies/${company}`;
  return {
    company: `${own}/`,
    project: `${own}/projects/${project}/`,
    resource_uri: `${own}/projects/${project}/candidates/${id}/`,
    first_name: profile.first_name,
    last_name: profile.last_name,
    email: profile.email ?? "",
    status: candidate.status,
    invitationdate: candidate.invited_at ?? null,
    confirmationdate: candidate.confirmed_at ?? null,
    interviewdate: candidate.interviewed_at ?? null,
    deadline: profile.deadline ?? null,
    phone: profile.phone,
    gender: profile.gender,
    address: profile.address,
    created_by: candidate.created_by ? `${own}/customers/${candidate.created_by}/` : null,
  };
}

async function read(event, company, project, candidate) {
  const loaded = await admit(event, company, project, candidate);
  authorise(loaded, company, READERS);
  if (!loaded.candidate) throw new Refusal(404, { detail: "Not found." });
  return respond(200, show(loaded.candidate));
}

async function create(event, company, project) {
  const loaded = await admit(event, company, project);
  authorise(loaded, company, MANAGERS);
  const body = NewCandidate.safeParse(JSON.parse(event.body));
  if (!body.success) throw new Refusal(400, z.flattenError(body.error).fieldErrors);
  const id = ulid();
  const candidate = {
    pk: `COMPANY#${company}#PROJECT#${project}`,
    sk: `CANDIDATE#${id}`,
    by_status_pk: `COMPANY#${company}#PROJECT#${project}#CANDIDATES#new`,
    by_status_sk: id,
    id,
    company,
    project,
    status: "new",
    profile: body.data,
    created_by: loaded.user.id,
    session_epoch: 0,
    version: 1,
  };
  const count = {
    TableName: TABLE,
    Key: { pk: candidate.pk, sk: `TALLY#${Math.floor(Math.random() * 4)}` },
    UpdateExpression: "ADD #count :one",
    ConditionExpression: "attribute_exists(pk)",
    ExpressionAttributeNames: { "#count": "status:new" },
    ExpressionAttributeValues: { ":one": 1 },
  };
  const put = { TableName: TABLE, Item: candidate, ConditionExpression: "attribute_not_exists(pk)" };
  await dynamodb.send(new TransactWriteCommand({ TransactItems: [{ Put: put }, { Update: count }] }));
  return respond(201, show(candidate));
}

export async function handler(event) {
  const [, company, project, candidate] = PATH.exec(event.rawPath) ?? [];
  try {
    if (!company) throw new Refusal(404, { detail: "Not found." });
    switch (event.requestContext.http.method + (candidate ? " one" : "")) {
      case "GET one":
        return await read(event, company, project, candidate);
      case "POST":
        return await create(event, company, project);
      default:
        throw new Refusal(405, { detail: "Method not allowed." });
    }
  } catch (error) {
    if (error instanceof Refusal) return error.response;
    if (error instanceof SyntaxError) return respond(400, { detail: "The body is not JSON." });
    throw error;
  }
}

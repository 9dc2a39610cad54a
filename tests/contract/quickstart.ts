// The quickstart's ten requests, by the client that @hey-api/openapi-ts has generated, which checks each answer by Zod.
import { deepStrictEqual } from "node:assert";
import { execFileSync } from "node:child_process";
import { setTimeout } from "node:timers/promises";
import * as sdk from "./hey/sdk.gen.js";
import { client } from "./hey/client.gen.js";
import { zCandidateInterviewedEvent } from "./hey/zod.gen.js";

interface Ready {
    base_url: string;
    company: string;
    username: string;
    password: string;
}

interface Delivery {
    signature: string | null;
    body: string;
}

const { base_url: baseUrl, company: companyId, username, password } = JSON.parse(process.argv[2] ?? "") as Ready;
client.setConfig({ baseUrl });
// An answer that the service refuses, or that Zod does, ends the program.
const throwOnError = true;

/** The body of the first delivery to a receiver, whose signature holds. */
async function delivered(receiver: string): Promise<string> {
    for (let waited = 0; waited < 600; waited += 1) {
        const [delivery] = (await (await fetch(`${receiver}/deliveries`)).json()) as Delivery[];
        if (delivery) {
            deepStrictEqual(delivery.signature, "holds");
            return delivery.body;
        }
        await setTimeout(100);
    }
    throw new Error("nothing was delivered");
}

const { data: login } = await sdk.logIn({ throwOnError, body: { company: companyId, username, password } });
client.setConfig({ headers: { Authorization: `Token ${login.token}` } });
const { data: caller } = await sdk.getCaller({ throwOnError });
const me = caller.resource!;

const { data: project } = await sdk.createProject({
    throwOnError,
    path: { companyId },
    body: { name: "Data engineer", external_id: "REQ-2", evaluators: [me.resource_uri], default_interview_period: 14 },
});
const path = { companyId, projectId: project.id };
const body = { text: "Which bug are you proud of?", kind: "text" } as const;
const { data: question } = await sdk.createQuestion({ throwOnError, path, body });
const { data: running } = await sdk.changeProjectStatus({ throwOnError, path, body: { status: "40-running" } });
deepStrictEqual([running.status, running.warnings], ["40-running", []]);

const receiver = `${baseUrl.replace("/api/v3", "")}/_local/hooks/contract`;
const { data: webhook } = await sdk.createWebhook({
    throwOnError,
    path: { companyId },
    body: { url: receiver, types: ["candidate.interviewed"] },
});
const secret = JSON.stringify({ secret: webhook.secret });
await fetch(receiver, { method: "PUT", headers: { "Content-Type": "application/json" }, body: secret });
const { data: report } = await sdk.importCandidates({
    throwOnError,
    path,
    headers: { "Idempotency-Key": "application-17" },
    body: [{ first_name: "Ada", last_name: "Lovelace", external_id: "A-17", receive_mails: false }],
});
const row = report.objects[0]!;
execFileSync("localstack/take-interview", [row.interview_url]);
const event = zCandidateInterviewedEvent.parse(JSON.parse(await delivered(receiver)));
deepStrictEqual(event.types, ["candidate.interviewed"]);
deepStrictEqual([event.data.resource_uri, event.data.external_id], [row.candidate, "A-17"]);

const candidate = { ...path, candidateId: event.data.resource_uri.split("/").at(-2)! };
const { data: interview } = await sdk.getInterview({ throwOnError, path: candidate });
deepStrictEqual(interview.answers.map((answer) => answer.text), ["The race in our scheduler."]);
const { data: evaluation } = await sdk.saveEvaluation({
    throwOnError,
    path: { ...candidate, customerId: me.id },
    body: { completed: true, recommendation: "yes", ratings: [{ question: question.resource_uri, value: 4 }] },
});
deepStrictEqual(evaluation.completed, true);
const { data: result } = await sdk.getResult({ throwOnError, path: candidate });
deepStrictEqual([result.overall_rating, result.maximum_score], [4, 5]);
console.log("the client of @hey-api/openapi-ts has run the quickstart");

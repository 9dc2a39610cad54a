// README's story, by types that openapi-typescript has generated from the document, and openapi-fetch.
import createClient from "openapi-fetch";
import type { components, operations, paths } from "./api.js";

declare const process: { argv: string[] };

type Schemas = components["schemas"];
type Json<T> = T extends { requestBody?: { content: { "application/json": infer Body } } } ? Body : never;
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;

// What was worse than it need be: it does not compile if a type is another one.
export const types: [
    Same<Json<operations["changeCandidate"]>["deadline"], string | null | undefined>,
    Same<Schemas["Candidate"]["deadline"], string | null>,
    Same<Schemas["ImportedCandidate"]["errors"], Schemas["Problem"] | Schemas["FieldErrors"]>,
    Same<Schemas["SignedUpload"]["headers"], { [key: string]: string }>,
    Same<Schemas["Evaluation"]["recommendation"], "definitely_no" | "no" | "yes" | "strong_yes" | null>,
] = [true, true, true, true, true];

interface Ready {
    base_url: string;
    company: string;
    username: string;
    password: string;
}

function assert(holds: boolean, what: string): asserts holds {
    if (!holds) {
        throw new Error(what);
    }
}

async function story(ready: Ready): Promise<void> {
    const { company, username, password } = ready;
    const anonymous = createClient<paths>({ baseUrl: ready.base_url });
    const login = await anonymous.POST("/api-token-auth/", { body: { company, username, password } });
    assert(login.data !== undefined, "no login");
    const client = createClient<paths>({
        baseUrl: ready.base_url,
        headers: { Authorization: `Token ${login.data.token}` },
    });

    const project = await client.POST("/companies/{companyId}/projects/", {
        params: { path: { companyId: company } },
        body: { name: "Data engineer" },
    });
    assert(project.data !== undefined, JSON.stringify(project.error));
    const inProject = { companyId: company, projectId: project.data.id };
    const people = "/companies/{companyId}/projects/{projectId}/candidates/";

    const create = (first_name: string, external_id: string | null) =>
        client.POST(people, {
            params: { path: inProject, header: { "Idempotency-Key": crypto.randomUUID() } },
            body: { first_name, last_name: "Byron", external_id, deadline: null },
        });
    const ada = await create("Ada", "4711");
    assert(ada.response.status === 201 && ada.data !== undefined, JSON.stringify(ada.error));
    // Nulls are read as such.
    assert(ada.data.deadline === null && ada.data.interviewdate === null, "null is not null");
    const deadline: string | null = ada.data.deadline;
    assert((deadline ?? "none") === "none", "null is not null");

    // Its key is taken.
    const taken = await create("Grace", "4711");
    assert(taken.response.status === 409 && taken.error !== undefined, "created twice");
    const { error } = taken;
    assert("code" in error && error.code === "external_id_taken", JSON.stringify(error));
    assert("resource_uri" in error && error.resource_uri === ada.data.resource_uri, JSON.stringify(error));

    // Pages are followed to the end.
    await create("Grace", null);
    await create("Jean", null);
    const names: string[] = [];
    let cursor: string | null = null;
    do {
        const query: { page_size: number; cursor?: string } = { page_size: 2, ...(cursor !== null && { cursor }) };
        const page = await client.GET(people, { params: { path: inProject, query } });
        assert(page.data !== undefined, JSON.stringify(page.error));
        names.push(...page.data.objects.map((candidate) => candidate.first_name));
        cursor = page.data.meta.cursor;
    } while (cursor !== null);
    assert(names.sort().join() === "Ada,Grace,Jean", names.join());

    const refused = await client.PATCH(`${people}{candidateId}/`, {
        params: { path: { ...inProject, candidateId: ada.data.id } },
        body: { email: "ada" },
    });
    assert(refused.error !== undefined && "email" in refused.error, "not refused");
    const gone = await client.GET(`${people}{candidateId}/`, {
        params: { path: { ...inProject, candidateId: "01ARZ3NDEKTSV4RRFFQ69G5FAV" } },
    });
    assert(gone.response.status === 404 && gone.error !== undefined, "found");
}

const [, , ready] = process.argv;
assert(ready !== undefined, "the argument is what the service says of itself");
await story(JSON.parse(ready) as Ready);
console.log("the generated client for TypeScript has told the story");

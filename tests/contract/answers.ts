// Answers of a later release, read by the client that @hey-api/openapi-ts has generated, which checks each answer by Zod.
import { readFileSync } from "node:fs";
import * as sdk from "./hey/sdk.gen.js";
import * as schemas from "./hey/zod.gen.js";
import { client } from "./hey/client.gen.js";

interface Answer {
    operation?: string;
    status: number;
    schema: string;
    body: unknown;
}

type Call = (options: object) => Promise<{ data?: unknown; error?: unknown }>;
type Parser = { parse(value: unknown): unknown };

const answers = JSON.parse(readFileSync(process.argv[2] ?? "", "utf-8")) as Answer[];
for (const { operation, status, schema, body } of answers) {
    if (operation === undefined) {
        (schemas as unknown as Record<string, Parser>)[`z${schema}`]?.parse(body);
        continue;
    }
    const answer = Response.json(body, { status });
    client.setConfig({ baseUrl: "http://localhost", fetch: async () => answer });
    const { data, error } = await (sdk as unknown as Record<string, Call>)[operation]!({ path: {}, throwOnError: true });
    if (JSON.stringify(data) !== JSON.stringify(body)) {
        throw new Error(`${operation}: ${JSON.stringify(error ?? data)}`);
    }
}
console.log(`the client of @hey-api/openapi-ts has read ${answers.length} answers with values that it does not know`);

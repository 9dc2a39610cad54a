// How @hey-api/openapi-ts generates its client: with a check of each answer by Zod.
export default {
    input: process.env.DOCUMENT,
    output: { path: "hey", module: { extension: ".js" } },
    plugins: ["@hey-api/client-fetch", { name: "@hey-api/sdk", validator: { response: "zod" } }, "zod"],
};

// Verifies receipts with npm's jose, which is installed in the folder of the first argument. Standard input has the cases as
// JSON, standard output the payload of each, or null if its signature does not hold.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";

const { compactVerify, createLocalJWKSet, errors } = createRequire(resolve(process.argv[2], "x"))("jose");

const verdicts = [];
for (const { jws, keys } of JSON.parse(readFileSync(0))) {
  try {
    const { payload } = await compactVerify(jws, createLocalJWKSet(keys), { algorithms: ["EdDSA"] });
    verdicts.push(JSON.parse(new TextDecoder().decode(payload)));
  } catch (error) {
    if (!(error instanceof errors.JOSEError)) throw error;
    verdicts.push(null);
  }
}
console.log(JSON.stringify(verdicts));

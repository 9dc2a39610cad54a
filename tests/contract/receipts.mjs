// Verifies receipts with npm's jose, which is installed in the folder of the first argument; the others are the base URL of the
// service and the company. Standard input has the cases as JSON, standard output the payload of each, or null if it is no receipt
// of this service about a candidate of this company.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";

const [npm, base, company] = process.argv.slice(2);
const { compactVerify, createLocalJWKSet, errors } = createRequire(resolve(npm, "x"))("jose");

const verdicts = [];
for (const { jws, keys } of JSON.parse(readFileSync(0))) {
  try {
    const { payload, protectedHeader } = await compactVerify(jws, createLocalJWKSet(keys), { algorithms: ["EdDSA"] });
    const statement = JSON.parse(new TextDecoder().decode(payload));
    const isExpected =
      protectedHeader.typ === "erasure-receipt+jws" && statement.iss === base && statement.company === `${base}/companies/${company}/`;
    verdicts.push(isExpected ? statement : null);
  } catch (error) {
    if (!(error instanceof errors.JOSEError)) throw error;
    verdicts.push(null);
  }
}
console.log(JSON.stringify(verdicts));

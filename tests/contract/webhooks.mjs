// Verifies deliveries with npm's library of Standard Webhooks, which is installed in the folder of the first argument.
// Standard input has the cases as JSON, standard output whether each signature holds.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";

const { Webhook, WebhookVerificationError } = createRequire(resolve(process.argv[2], "x"))("standardwebhooks");

const verdicts = JSON.parse(readFileSync(0)).map(({ secret, headers, body }) => {
  try {
    new Webhook(secret).verify(body, headers);
    return true;
  } catch (error) {
    if (error instanceof WebhookVerificationError) return false;
    throw error;
  }
});
console.log(JSON.stringify(verdicts));

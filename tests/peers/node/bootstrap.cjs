// Polls the runtime API as Lambda's own client does, which cannot be built without Node's headers.
const { Agent, request } = require("node:http");
const { handler } = require("../package/handler.cjs");

const agent = new Agent({ keepAlive: true });
const [host, port] = process.env.AWS_LAMBDA_RUNTIME_API.split(":");

const call = (method, path, body) =>
  new Promise((resolve, reject) => {
    const sent = request({ agent, host, port, method, path: `/2018-06-01/runtime/${path}` }, (response) => {
      const chunks = [];
      response.on("data", (chunk) => chunks.push(chunk));
      response.on("end", () => resolve({ headers: response.headers, text: Buffer.concat(chunks).toString() }));
    });
    sent.on("error", reject);
    sent.end(body);
  });

async function serve() {
  for (;;) {
    const { headers, text } = await call("GET", "invocation/next");
    const invocation = `invocation/${headers["lambda-runtime-aws-request-id"]}`;
    try {
      await call("POST", `${invocation}/response`, JSON.stringify(await handler(JSON.parse(text))));
    } catch (error) {
      const report = { errorType: error.name, errorMessage: error.message, trace: error.stack.split("\n") };
      await call("POST", `${invocation}/error`, JSON.stringify(report));
    }
  }
}

serve();

"use strict";

const FORM = "multipart/form-data";

// The files in samples of forms.
const FILES = { cv: "cv.pdf", file: "welcome.mp4", photo: "photo.jpg" };

const LANGUAGES = { curl, Python: python, JavaScript: javascript };

// How each way to authenticate appears in a request: a header, or what clients have an option of their own for.
const CREDENTIALS = {
    token: { title: "Token", scheme: "Token", variable: "TOKEN" },
    basic: { title: "Basic (token as password)", scheme: "Basic", variable: "TOKEN" },
    activationKey: { title: "Activation key", scheme: "ActivationKey", variable: "ACTIVATION_KEY" },
    guestKey: { title: "Guest key", scheme: "GuestKey", variable: "GUEST_KEY" },
    session: { title: "Session cookie", variable: "SESSIONID" },
};

// The way to authenticate an operation: the chosen one if it is accepted, else the first that is. None where it is
// optional.
function credentialOf(operation, chosen) {
    if (operation.security.some((scheme) => Object.keys(scheme).length === 0)) {
        return undefined;
    }
    const accepted = operation.security.flatMap((scheme) => Object.keys(scheme));
    return accepted.includes(chosen) ? chosen : accepted[0];
}

function parametersOf(operation) {
    return (operation.parameters ?? []).map(resolve);
}

// The example of a request's body in JSON.
function exampleBody(operation) {
    const examples = operation.requestBody?.content["application/json"]?.examples ?? {};
    return Object.values(examples)[0]?.value;
}

function isFile(schema) {
    return [schema, ...(schema.anyOf ?? [])].some((of) => of.contentMediaType || of.format === "binary");
}

// The parts of the example form: texts, and files by the names that they have in samples.
function exampleForm(operation) {
    const { properties } = resolve(operation.requestBody.content[FORM].schema);
    const example = exampleBody(operation) ?? {};
    const texts = {};
    const files = {};
    for (const [name, schema] of Object.entries(properties)) {
        if (isFile(schema)) {
            files[name] = FILES[name] ?? name;
        } else if (name in example && example[name] !== null) {
            texts[name] = typeof example[name] === "string" ? example[name] : JSON.stringify(example[name]);
        }
    }
    return { texts, files };
}

// A request with examples for all that it must have.
function exampleRequest(operation, chosen, media) {
    const required = parametersOf(operation).filter((parameter) => parameter.required);
    const value = (parameter) => String(parameter.example ?? `<${parameter.name}>`);
    const inPath = Object.fromEntries(required.map((parameter) => [parameter.name, value(parameter)]));
    const query = required.filter((parameter) => parameter.in === "query");
    const path = operation.path.replace(/\{(\w+)\}/g, (_, name) => inPath[name]);
    const search = new URLSearchParams(query.map((parameter) => [parameter.name, value(parameter)])).toString();
    const headers = required.filter((parameter) => parameter.in === "header");
    return {
        method: operation.method,
        url: api.servers[0].url.replace(/\/$/, "") + path + (search && `?${search}`),
        credential: credentialOf(operation, chosen),
        headers: Object.fromEntries(headers.map((parameter) => [parameter.name, value(parameter)])),
        json: media === FORM ? undefined : exampleBody(operation),
        form: media === FORM ? exampleForm(operation) : undefined,
    };
}

function curl({ method, url, credential, headers, json, form }) {
    const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
    const { scheme, variable } = CREDENTIALS[credential] ?? {};
    const lines = [`curl ${method === "GET" ? "" : `-X ${method} `}${quoted(url)}`];
    if (credential === "basic") {
        lines.push(`-u "token:$${variable}"`);
    } else if (credential === "session") {
        lines.push(`-b "sessionid=$${variable}"`);
    } else if (credential) {
        lines.push(`-H "Authorization: ${scheme} $${variable}"`);
    }
    lines.push(...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`));
    if (json !== undefined) {
        lines.push("-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(json, null, 2))}`);
    }
    if (form) {
        lines.push(...Object.entries(form.texts).map(([name, text]) => `-F ${quoted(`${name}=${text}`)}`));
        lines.push(...Object.entries(form.files).map(([name, file]) => `-F ${quoted(`${name}=@${file}`)}`));
    }
    return lines.join(" \\\n  ");
}

// A value of JSON as Python writes it.
function literal(value, indent = "    ") {
    const inner = `${indent}    `;
    const block = (open, items, close) =>
        items.length ? `${open}\n${items.map((item) => `${inner}${item},\n`).join("")}${indent}${close}` : open + close;
    if (Array.isArray(value)) {
        return block("[", value.map((item) => literal(item, inner)), "]");
    }
    if (value && typeof value === "object") {
        const items = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${literal(item, inner)}`);
        return block("{", items, "}");
    }
    return new Map([[null, "None"], [true, "True"], [false, "False"]]).get(value) ?? JSON.stringify(value);
}

function python({ method, url, credential, headers, json, form }) {
    const { scheme, variable } = CREDENTIALS[credential] ?? {};
    const secret = `os.environ["${variable}"]`;
    const named = Object.entries(headers).map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`);
    if (scheme && credential !== "basic") {
        named.unshift(`"Authorization": "${scheme} " + ${secret}`);
    }
    const lines = [JSON.stringify(url)];
    lines.push(...(named.length ? [`headers={${named.join(", ")}}`] : []));
    lines.push(...(credential === "basic" ? [`auth=("token", ${secret})`] : []));
    lines.push(...(credential === "session" ? [`cookies={"sessionid": ${secret}}`] : []));
    lines.push(...(json === undefined ? [] : [`json=${literal(json)}`]));
    if (form) {
        const files = Object.entries(form.files).map(([name, file]) => `"${name}": open("${file}", "rb")`);
        lines.push(`data=${literal(form.texts)}`, `files={${files.join(", ")}}`);
    }
    const call = lines.map((line) => `    ${line},\n`).join("");
    const imports = credential ? "import os\n\nimport requests" : "import requests";
    const request = `response = requests.${method.toLowerCase()}(\n${call})`;
    return `${imports}\n\n${request}\nresponse.raise_for_status()\nprint(response.text)`;
}

function javascript({ method, url, credential, headers, json, form }) {
    const { scheme, variable } = CREDENTIALS[credential] ?? {};
    const secret = `process.env.${variable}`;
    const named = Object.entries(headers).map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`);
    if (credential === "basic") {
        named.unshift(`Authorization: "Basic " + btoa("token:" + ${secret})`);
    } else if (scheme) {
        named.unshift(`Authorization: "${scheme} " + ${secret}`);
    }
    const lines = method === "GET" ? [] : [`method: "${method}"`];
    lines.push(...(credential === "session" ? ['credentials: "include"'] : []));
    if (json !== undefined) {
        named.push('"Content-Type": "application/json"');
    }
    lines.push(...(named.length ? [`headers: {\n${named.map((line) => `    ${line},\n`).join("")}  }`] : []));
    if (json !== undefined) {
        lines.push(`body: JSON.stringify(${JSON.stringify(json, null, 2).replaceAll("\n", "\n  ")})`);
    }
    let before = "";
    if (form) {
        const texts = Object.entries(form.texts).map(
            ([name, text]) => `form.append("${name}", ${JSON.stringify(text)});\n`,
        );
        const files = Object.entries(form.files).map(
            ([name, file]) => `form.append("${name}", await openAsBlob("${file}"), "${file}");\n`,
        );
        before = 'import { openAsBlob } from "node:fs";\n\nconst form = new FormData();\n';
        before += `${[...texts, ...files].join("")}\n`;
        lines.push("body: form");
    }
    const options = lines.length ? `, {\n${lines.map((line) => `  ${line},\n`).join("")}}` : "";
    return `${before}const response = await fetch(${JSON.stringify(url)}${options});
if (!response.ok) throw new Error(await response.text());
console.log(await response.text());`;
}

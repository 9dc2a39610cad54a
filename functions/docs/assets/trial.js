"use strict";

// The credential that requests are tried with. It lasts as long as the page is open, and is kept nowhere.
const credential = { kind: "token", secret: "" };

// Values of parameters in paths, so that each is entered once for the whole page.
const entered = new Map();

// The form in which the credential is entered; `changed` is called when the way to authenticate is another one.
function credentialForm(changed) {
    const options = Object.entries(CREDENTIALS).map(([kind, { title }]) => element("option", { value: kind }, title));
    const kind = element("select", { id: "credential-kind" }, options);
    const secret = element("input", { id: "credential-secret", type: "password", autocomplete: "off", size: 36 });
    const secretLabel = element("label", {}, "Value ", secret);
    const cookie = element(
        "p",
        { hidden: true },
        "The browser sends the cookie of its session. Start one on this page with ",
        element("a", { href: "#logInByCookie" }, "Log in by cookie"),
        ".",
    );
    const byProvider = providerSignIn();
    kind.addEventListener("change", () => {
        credential.kind = kind.value;
        secretLabel.hidden = kind.value === "session";
        cookie.hidden = byProvider.hidden = !secretLabel.hidden;
        changed();
    });
    secret.addEventListener("input", () => {
        credential.secret = secret.value.trim();
    });
    return element(
        "form",
        { class: "credentials", onsubmit: (event) => event.preventDefault() },
        element("p", {}, "“Try it” on this page and the samples use this credential. Values you enter are not stored."),
        element("p", {}, element("label", {}, "Authenticate by ", kind), " ", secretLabel),
        cookie,
        byProvider,
    );
}

// Opens the sign-in by a company's provider, which leads back to this page with the cookie of a session.
function providerSignIn() {
    const company = input("Company", { id: "sign-in-company", autocapitalize: "none" });
    const told = element("p", { role: "status" });
    const go = async () => {
        const name = encodeURIComponent(company.querySelector("input").value.trim());
        const response = await fetch(`${document.body.dataset.base}/companies/${name}/login/`).catch(() => undefined);
        const url = response?.ok ? (await response.json()).sign_in_url : null;
        if (url) {
            location.assign(`${url}?${new URLSearchParams({ return_to: location.pathname })}`);
        } else {
            told.textContent = "This company has no sign-in with its own accounts, or cannot be reached.";
        }
    };
    const button = element("button", { type: "button" }, "Sign in with your company's account");
    button.addEventListener("click", go);
    return element("div", { class: "by-provider", hidden: true }, company, " ", button, told);
}

// Takes the token of a login as the credential of the page. Returns what tells so, with a button that copies the token.
function takeOver(token) {
    const [kind, secret] = ["credential-kind", "credential-secret"].map((id) => document.getElementById(id));
    kind.value = "token";
    secret.value = token;
    kind.dispatchEvent(new Event("change"));
    secret.dispatchEvent(new Event("input"));
    const link = element("a", { href: "#authentication" }, "credential of this page");
    return element("p", { class: "taken" }, "This token is now the ", link, ". ", copyButton("Copy token", () => token));
}

function authorization(kind) {
    const { secret } = credential;
    const { scheme } = CREDENTIALS[kind] ?? {};
    if (!scheme || !secret) {
        return undefined;
    }
    return `${scheme} ${scheme === "Basic" ? btoa(`token:${secret}`) : secret}`;
}

function input(label, attributes, value = "") {
    const control = element(attributes.rows ? "textarea" : "input", { autocomplete: "off", spellcheck: "false", ...attributes });
    if (attributes.type !== "file") {
        control.value = value;
    }
    return element("label", {}, element("span", {}, label), control);
}

function enter(name, value) {
    entered.set(name, value);
    document.querySelectorAll(`.trial [data-in="path"][name="${name}"]`).forEach((control) => (control.value = value));
}

function parameterInput(parameter) {
    const attributes = {
        name: parameter.name,
        "data-in": parameter.in,
        placeholder: parameter.example ?? "",
        required: parameter.required,
    };
    const built = input(parameter.name, attributes, parameter.in === "path" ? entered.get(parameter.name) : "");
    if (parameter.in === "path") {
        built.querySelector("input").addEventListener("input", (event) => enter(parameter.name, event.target.value));
    }
    return built;
}

function bodyInputs(operation, media) {
    if (media !== FORM) {
        const text = JSON.stringify(exampleBody(operation) ?? {}, null, 2);
        return [input("Body", { name: "body", "data-in": "body", rows: Math.min(text.split("\n").length + 1, 16) }, text)];
    }
    const { texts, files } = exampleForm(operation);
    return [
        ...Object.entries(texts).map(([name, text]) => input(name, { name, "data-in": "form" }, text)),
        ...Object.keys(files).map((name) => input(name, { name, "data-in": "form", type: "file" })),
    ];
}

// The request that a form describes, as fetch() takes it.
function request(operation, form) {
    const given = [...form.elements].filter((control) => control.dataset.in && control.value !== "");
    const of = (place) => given.filter((control) => control.dataset.in === place);
    const inPath = Object.fromEntries(of("path").map((control) => [control.name, encodeURIComponent(control.value)]));
    const path = operation.path.replace(/\{(\w+)\}/g, (_, name) => inPath[name]);
    const query = new URLSearchParams(of("query").map((control) => [control.name, control.value])).toString();
    const headers = new Headers(of("header").map((control) => [control.name, control.value]));
    const kind = credentialOf(operation, credential.kind);
    const secret = authorization(kind);
    if (secret) {
        headers.set("Authorization", secret);
    }
    const [text] = of("body");
    const parts = of("form");
    let sent;
    if (text) {
        headers.set("Content-Type", "application/json");
        sent = text.value;
    } else if (parts.length) {
        sent = new FormData();
        parts.forEach((part) => sent.append(part.name, part.type === "file" ? part.files[0] : part.value));
    }
    // Operations that need no credential may set or end the cookie.
    const credentials = kind === undefined || kind === "session" ? "same-origin" : "omit";
    const options = { method: operation.method, headers, body: sent, credentials, redirect: "manual" };
    return [document.body.dataset.base + path + (query && `?${query}`), options];
}

async function shown(operation, response, url) {
    if (response.type === "opaqueredirect") {
        return [element("p", {}, "The answer leads to a file: ", element("a", { href: url }, "open it"), ".")];
    }
    const headers = [...response.headers].map(([name, value]) => `${name}: ${value}`).join("\n");
    const type = response.headers.get("content-type") ?? "";
    const text = await response.text();
    const json = type.includes("json") && text ? JSON.parse(text) : undefined;
    const pretty = json ? JSON.stringify(json, null, 2) : text;
    return [
        operation.operationId === "logIn" && response.ok ? takeOver(json.token) : undefined,
        element("details", {}, element("summary", {}, "Headers"), element("pre", {}, headers)),
        pretty ? element("pre", { class: "answer-body", tabindex: 0 }, pretty) : element("p", {}, "No body."),
    ];
}

// The form on which an operation is tried, and its answer.
function trial(operation, media) {
    const answer = element("div", { class: "answer", "aria-live": "polite" });
    const inputs = [
        ...parametersOf(operation).map(parameterInput),
        ...(operation.requestBody ? bodyInputs(operation, media) : []),
    ];
    const send = element("button", { type: "submit", class: "send" }, "Send");
    const submit = async (event) => {
        event.preventDefault();
        send.disabled = true;
        const [url, options] = request(operation, event.target);
        const start = performance.now();
        try {
            const response = await fetch(url, options);
            const parts = (await shown(operation, response, url)).filter(Boolean);
            const took = `${Math.round(performance.now() - start)} ms`;
            const status = response.status ? `${response.status} ${response.statusText}`.trim() : "Redirect";
            const line = element("p", {}, element("strong", { class: "status" }, status), ` in ${took}`);
            answer.replaceChildren(line, ...parts);
        } catch (error) {
            answer.replaceChildren(element("p", { class: "failed" }, `The request failed: ${error.message}`));
        } finally {
            send.disabled = false;
        }
    };
    const kind = credentialOf(operation, credential.kind);
    const link = element("a", { href: "#authentication" }, "set under Authentication");
    const needs = kind && element("p", { class: "accepted" }, "Sent with the credential ", link, ".");
    return [element("form", { onsubmit: submit }, needs, inputs, send), answer];
}

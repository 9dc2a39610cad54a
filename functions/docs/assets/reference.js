"use strict";

// The document; the other scripts look references up in it.
let api;

// What every operation's samples are written in.
let language = "curl";

// Called when the language or the way to authenticate is another one.
const samples = [];
const refreshSamples = () => samples.forEach((refresh) => refresh());

function operationsOf(tag) {
    return Object.entries(api.paths).flatMap(([path, item]) =>
        Object.entries(item)
            .filter(([, operation]) => operation.tags.includes(tag))
            .map(([method, operation]) => ({ ...operation, path, method: method.toUpperCase() })),
    );
}

function method(name) {
    return element("span", { class: `method ${name.toLowerCase()}` }, name);
}

// A button that copies a text; hidden where the browser does not let a page do so.
function copyButton(label, text) {
    const copy = element("button", { type: "button", class: "copy", hidden: !navigator.clipboard }, label);
    copy.addEventListener("click", async () => {
        await navigator.clipboard.writeText(text());
        copy.textContent = "Copied";
        setTimeout(() => (copy.textContent = label), 1500);
    });
    return copy;
}

// The samples of an operation, with a switch between its languages and between the forms of its body.
function samplesOf(operation, changed) {
    const code = element("code");
    const media = Object.keys(operation.requestBody?.content ?? {});
    const choice = element(
        "select",
        { "aria-label": "Body", onchange: () => (refresh(), changed(choice.value)) },
        media.map((type) => element("option", { value: type }, type === FORM ? "form" : "JSON")),
    );
    const buttons = Object.keys(LANGUAGES).map((name) =>
        element("button", { type: "button", onclick: () => ((language = name), refreshSamples()) }, name),
    );
    const copy = copyButton("Copy", () => code.textContent);
    const refresh = () => {
        buttons.forEach((button) => button.setAttribute("aria-pressed", button.textContent === language));
        code.textContent = LANGUAGES[language](exampleRequest(operation, credential.kind, choice.value));
    };
    samples.push(refresh);
    refresh();
    const bar = element("div", { class: "bar", role: "group", "aria-label": "Language" }, buttons, media.length > 1 ? choice : "", copy);
    return element("div", { class: "sample" }, bar, element("pre", { tabindex: 0 }, code));
}

function exampleResponse(operation) {
    const [status, response] = Object.entries(operation.responses).find(([code]) => code.startsWith("2")) ?? [];
    const example = resolve(response)?.content?.["application/json"]?.example;
    const text = example === undefined ? undefined : JSON.stringify(example, null, 2);
    const title = element("summary", {}, `Example response, ${status}`);
    return text && element("details", { class: "example", open: true }, title, element("pre", { tabindex: 0 }, text));
}

function responseOf([status, node]) {
    const response = resolve(node);
    const schemas = Object.values(response.content ?? {}).map((content) => content.schema ?? true);
    const headers = Object.entries(response.headers ?? {}).map(([name, header]) => {
        const { schema, description } = resolve(header);
        return field(name, schema, { description });
    });
    return element(
        "details",
        { class: "response" },
        element("summary", {}, element("code", { class: `status s${status[0]}` }, status), " ", inline(response.description)),
        schemas.slice(0, 1).map((schema) => body(schema, false)),
        headers.length ? [element("h5", {}, "Headers"), element("ul", { class: "fields" }, headers)] : [],
    );
}

// The responses of an operation, with its errors folded: most operations share them.
function responsesOf(operation) {
    const responses = Object.entries(operation.responses);
    const errors = responses.filter(([status]) => status >= "4");
    const titles = errors.map(([status]) => [" ", element("code", { class: "status s4" }, status)]);
    return [
        responses.filter(([status]) => status < "4").map(responseOf),
        errors.length ? element("details", { class: "response" }, element("summary", {}, "Errors", titles), errors.map(responseOf)) : [],
    ];
}

function linkCode(code, section) {
    const link = element("a", { href: `#${section}-${code.textContent}` });
    code.replaceWith(link);
    link.append(code);
}

// Links the permission that a text names, and the codes of the errors that it lists.
function withLinks(text) {
    text.forEach((block) => {
        const permission = block.textContent.startsWith("Permission ") && block.querySelector("code");
        if (permission) {
            linkCode(permission, "permissions");
        }
        const listed = [...block.querySelectorAll("li > code:first-child")];
        listed.filter((code) => errorCodes.has(code.textContent)).forEach((code) => linkCode(code, "error-codes"));
    });
    return text;
}

function accepted(operation) {
    const names = operation.security.flatMap((scheme) => Object.keys(scheme)).map((name) => CREDENTIALS[name].title);
    const optional = operation.security.some((scheme) => Object.keys(scheme).length === 0);
    const text = names.length
        ? `${optional ? "Optional authentication" : "Authentication"}: ${names.join(", ")}.`
        : "No authentication.";
    return element("p", { class: "accepted" }, text);
}

// The schema of a request's body with its objects, which have names, in their places.
function whole(schema) {
    const { $ref, ...own } = schema;
    const found = $ref ? { ...resolve({ $ref }), ...own } : own;
    const properties = Object.entries(found.properties ?? {}).map(([name, of]) => [name, whole(of)]);
    return {
        ...found,
        ...(found.properties && { properties: Object.fromEntries(properties) }),
        ...(found.items && { items: whole(found.items) }),
        ...(found.anyOf && { anyOf: found.anyOf.map(whole) }),
    };
}

function operationSection(operation) {
    const parameters = (title, place) => {
        const found = parametersOf(operation).filter((parameter) => parameter.in === place);
        const items = found.map(({ name, schema, description, required }) =>
            field(name, schema, { description, note: required && "required", sent: true }),
        );
        return found.length ? [element("h4", {}, title), element("ul", { class: "fields" }, items)] : [];
    };
    const content = Object.values(operation.requestBody?.content ?? {});
    const tryIt = element("details", { class: "trial" }, element("summary", {}, "Try it"));
    const renew = (media) => tryIt.replaceChildren(tryIt.firstChild, ...trial(operation, media));
    const isBuilt = () => tryIt.children.length > 1;
    const sample = samplesOf(operation, (media) => isBuilt() && renew(media));
    tryIt.addEventListener("toggle", () => isBuilt() || renew(sample.querySelector("select")?.value));
    return element(
        "section",
        { class: "operation", id: operation.operationId },
        element("div", { class: "title" }, heading(3, operation.operationId, operation.summary)),
        element("p", { class: "route" }, method(operation.method), " ", element("code", {}, operation.path)),
        element(
            "div",
            { class: "text" },
            withLinks(markdown(operation.description)),
            accepted(operation),
            parameters("Path", "path"),
            parameters("Query", "query"),
            parameters("Headers", "header"),
            content.length ? [element("h4", {}, "Body"), body(whole(content[0].schema), true)] : [],
            element("h4", {}, "Responses"),
            responsesOf(operation),
        ),
        element("div", { class: "code" }, sample, tryIt, exampleResponse(operation)),
    );
}

// The pages of the guide that are files: those before the sections of the introduction, and those after them.
const FIRST_PAGES = [
    "quickstart",
    "connect-an-ats",
    "invite-without-our-mails",
    "keep-a-copy-in-step",
    "watch-without-an-account",
    "without-a-secret",
    "sign-in",
    "sign-in-entra-id",
    "sign-in-google",
    "sign-in-okta",
    "sign-in-keycloak",
    "leave",
];
const LAST_PAGES = ["error-codes", "changelog"];

// The codes of errors that the guide explains.
const errorCodes = new Set();

// The sections of pages, whose first lines are their titles.
async function guidePages(names) {
    const read = async (id) => {
        const response = await fetch(`${document.body.dataset.base}/docs/${id}.md`);
        const text = response.ok ? await response.text() : "";
        const end = text.indexOf("\n");
        return { id, title: text.slice(2, end), text: text.slice(end) };
    };
    // The reference is of use without a page that does not come, as while a release is deployed.
    const pages = await Promise.all(names.map((id) => read(id).catch(() => ({ id, title: "", text: "" }))));
    return pages.filter(({ text }) => text);
}

function pageSection({ id, title, text }) {
    return { id, title, built: element("section", { id, class: "guide" }, heading(2, id, title), markdown(text, id)) };
}

// The pages of the guide, around the sections of the introduction, each of which is headed by a line that starts with ##.
function guide(first, last) {
    const [opening, ...rest] = api.info.description.split(/^## /m);
    const sections = rest.map((text) => {
        const end = text.indexOf("\n");
        const title = text.slice(0, end);
        const id = slug(title);
        const extra = id === "authentication" ? credentialForm(refreshSamples) : undefined;
        return { id, title, built: element("section", { id, class: "guide" }, heading(2, id, title), markdown(text.slice(end), id), extra) };
    });
    const server = element("p", {}, "Base URL ", element("code", {}, api.servers[0].url));
    const head = element("h1", {}, api.info.title, " ", element("small", {}, api.info.version));
    const start = element("section", { id: "top", class: "guide" }, head, markdown(opening), server);
    return [{ id: "top", title: "Overview", built: start }, ...first.map(pageSection), ...sections, ...last.map(pageSection)];
}

function groups() {
    return api.tags.map((tag) => {
        const id = `group-${slug(tag.name)}`;
        const operations = operationsOf(tag.name).map((operation) => ({
            id: operation.operationId,
            title: operation.summary,
            method: operation.method,
            words: operation.path,
            built: operationSection(operation),
        }));
        const built = element("section", { id, class: "group" }, heading(2, id, tag.name), markdown(tag.description));
        return { id, title: tag.name, built, entries: operations };
    });
}

function schemas() {
    // Bodies of requests are described with their operations.
    const shown = Object.entries(api.components.schemas).filter(([name]) => !name.includes("Body"));
    const entries = shown.map(([name, schema]) => {
        const id = `schema-${name}`;
        const text = [heading(3, id, name), markdown(schema.description), body(schema, false)];
        return { id, title: name, built: element("section", { id, class: "schema" }, text) };
    });
    const built = element("section", { id: "schemas", class: "group" }, heading(2, "schemas", "Schemas"));
    return { id: "schemas", title: "Schemas", built, entries };
}

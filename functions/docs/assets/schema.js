"use strict";

// Follows a reference within the document.
function resolve(node) {
    if (!node?.$ref) {
        return node;
    }
    return node.$ref.slice(2).split("/").reduce((at, key) => at[key], api);
}

function joined(parts, word) {
    return parts.flatMap((part, index) => (index ? [word, part] : [part]));
}

// The type of a value in words, with links to the schemas that have names.
function typeOf(schema) {
    if (schema === true || Object.keys(schema).length === 0) {
        return ["any value"];
    }
    if (schema.$ref) {
        const name = schema.$ref.split("/").pop();
        return [element("a", { href: `#schema-${name}` }, name)];
    }
    if (schema.anyOf) {
        const types = schema.anyOf.map(typeOf);
        const names = types.map((type) => type.map((part) => part.textContent ?? part).join(""));
        return joined(types.filter((_, index) => names.indexOf(names[index]) === index), " or ").flat();
    }
    if (schema.const !== undefined) {
        return [element("code", {}, JSON.stringify(schema.const))];
    }
    const types = [schema.type ?? "any value"].flat().map((type) => {
        if (type === "array") {
            return ["array of ", ...typeOf(schema.items ?? {})];
        }
        return [type === "string" && schema.format ? `string (${schema.format})` : type];
    });
    return joined(types, " or ").flat();
}

// What a value must be besides its type, in words.
function limits(schema) {
    const range = (least, most, unit) => {
        if (least === undefined && most === undefined) {
            return undefined;
        }
        const words =
            least === undefined ? `at most ${most}` : most === undefined ? `at least ${least}` : `${least} to ${most}`;
        return unit ? `${words} ${unit}` : words;
    };
    // Null and an empty string are told by the type, and by the guide.
    const unlisted = (schema.enum ?? []).filter((value) => value && !schema.description?.includes(`\`${value}\``));
    return [
        range(schema.minLength, schema.maxLength, "characters"),
        range(schema.minItems, schema.maxItems, "items"),
        range(schema.minimum, schema.maximum),
        schema.default === undefined ? undefined : `default ${JSON.stringify(schema.default)}`,
        unlisted.length ? `one of ${unlisted.map((value) => JSON.stringify(value)).join(", ")}` : undefined,
    ].filter(Boolean);
}

// The object in a schema that has fields of its own and no name.
function innerObject(schema) {
    if (schema.$ref || typeof schema !== "object") {
        return undefined;
    }
    const inner = [...(schema.anyOf ?? []), schema.items, schema.additionalProperties].filter(Boolean);
    return schema.properties ? schema : inner.map(innerObject).find(Boolean);
}

// One named value, such as a field or a parameter; `note` says when it is there.
function field(name, schema, { description = schema.description, note, sent } = {}) {
    const inner = innerObject(schema);
    const head = [
        element("code", { class: "name" }, name),
        " ",
        element("span", { class: "type" }, typeOf(schema), limits(schema).map((limit) => `, ${limit}`)),
        note ? element("span", { class: "note" }, ` ${note}`) : undefined,
        schema.deprecated ? element("span", { class: "note" }, " deprecated") : undefined,
    ];
    const more = inner && element("details", {}, element("summary", {}, `Fields of ${name}`), fields(inner, sent));
    return element("li", {}, element("p", {}, head), markdown(description), more);
}

// The fields of an object that is sent, or else received.
function fields(schema, sent) {
    const named = Object.entries(schema.properties ?? {});
    const note = (name) => {
        const required = schema.required?.includes(name) ?? false;
        return sent ? required && "required" : !required && "not always present";
    };
    return element(
        "ul",
        { class: "fields" },
        named.map(([name, of]) => field(name, of, { note: note(name), sent })),
    );
}

// What a body looks like: its type, and its fields unless the type has a section of its own.
function body(schema, sent) {
    const inner = innerObject(schema);
    const type = inner === schema ? undefined : element("p", { class: "type" }, typeOf(schema));
    return [type, inner && fields(inner, sent)];
}

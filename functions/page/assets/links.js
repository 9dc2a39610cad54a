// Where the page leads from one of its screens.

import { element } from "./dom.js";

/** The identifier of a company in its reference. @param {string} reference */
export const companyIn = (reference) => reference.split("/").at(-2) ?? "";

/** The login of a company by its reference. @param {string} reference */
export const loginOf = (reference) => `/interview/${encodeURIComponent(companyIn(reference))}/`;

/** A link that looks like a button. @param {string} address @param {string} text */
export const buttonTo = (address, text) => element("p", {}, element("a", { class: "main", href: address }, text));

/**
 * Whom candidates can ask, as far as the page knows.
 * @param {import("./main.js").App} app
 */
export function contactLine({ model, texts }) {
    // It is there for candidates.
    if (model.holder?.kind === "customer") return null;
    const { person = "", email = "" } = (model.candidate ?? model.ended ?? model.company)?.contact ?? {};
    if (!person && !email) return null;
    const link = email && element("a", { href: `mailto:${encodeURIComponent(email)}` }, email);
    return [texts.ask, " ", person && element("bdi", {}, person), person && email && ", ", link];
}

// Where the page leads from one of its screens.

import { element } from "./dom.js";
import { filled } from "./language.js";

/** The segments of a path. One that is cut in a letter stays as it is. @param {string} path */
export const segmentsOf = (path) => path.split("/").filter(Boolean).map((segment) => {
    try {
        return decodeURIComponent(segment);
    } catch {
        return segment;
    }
});

/** The identifier of a company in its reference. @param {string} reference */
export const companyIn = (reference) => reference.split("/").at(-2) ?? "";

/** The login of a company by its reference. @param {string} reference */
export const loginOf = (reference) => `/interview/${encodeURIComponent(companyIn(reference))}/`;

/** The place in the foot of each page that leads to what is accessible. */
const foot = /** @type {HTMLElement} */ (document.getElementById("accessibility"));

/** Leads from the foot to the page about accessibility, with whom to ask if the company is known. @param {string} text @param {string} [company] its identifier */
export function leadToAccessibility(text, company) {
    const address = company ? `/accessibility/${encodeURIComponent(company)}/` : "/accessibility/";
    const link = foot.querySelector("a");
    if (link?.textContent === text && link.getAttribute("href") === address) return;
    // In a window of its own: what was typed or recorded stays.
    foot.replaceChildren(element("a", { href: address, target: "_blank", rel: "noopener noreferrer" }, text));
}

/** A link to another site, in a window of its own. @param {string} address @param {string} [text] */
export const linkTo = (address, text = address) => element("a", { href: address, target: "_blank", rel: "noopener noreferrer" }, text);

/** A text of the company with its addresses as links, which end before the sentence does. @param {string} text */
export const linked = (text) =>
    text.split(/(https:\/\/[^\s<>"]*[^\s<>".,;:!?)\]'’”»])/).map((part) => (/^https:/.test(part) && URL.canParse(part) ? linkTo(part) : part));

/** A link that looks like a button. @param {string} address @param {string} text */
export const buttonTo = (address, text) =>
    // The address of this page holds a key.
    element("p", {}, element("a", { class: "main", href: address, rel: "noreferrer", referrerpolicy: "no-referrer" }, text));

/**
 * The button to the page that the company has for candidates after the interview, if it has one.
 * @param {import("./main.js").App} app
 */
export function returnButton({ model, texts }) {
    const address = (model.candidate ?? model.ended)?.return_url;
    return address ? buttonTo(address, filled(texts.done.goOn, { host: new URL(address).host })) : null;
}

/**
 * Whom candidates can ask, as far as the page knows.
 * @param {import("./main.js").App} app
 */
export function contactLine({ model, texts }) {
    // It is there for candidates.
    if (model.keyKind === "customer") return null;
    const contact = (model.candidate ?? model.ended ?? model.company)?.contact;
    return contact ? contactText(texts.ask, contact) : null;
}

/** The contact for questions; null if there is none. @param {string} ask @param {import("./types.js").Contact} contact */
export function contactText(ask, { person, email }) {
    if (!person && !email) return null;
    const link = email && element("a", { href: `mailto:${encodeURIComponent(email)}` }, email);
    return [ask, " ", person && element("bdi", {}, person), person && email && ", ", link];
}

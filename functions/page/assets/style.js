// The style sheet, loaded again if it was refused or lost on the way.

import { delay, pause } from "./api.js";

/** How often it is asked for. */
const ATTEMPTS = 6;

/** Whether a style sheet is there. One that was refused may be there without rules. @param {HTMLLinkElement} link */
const isLoaded = (link) => (link.sheet?.cssRules.length ?? 0) > 0;

/** Makes sure that the page has its style sheet. */
export async function loadStyle() {
    // Until then, it may still be coming.
    if (document.readyState !== "complete") await new Promise((done) => addEventListener("load", done, { once: true }));
    const first = /** @type {HTMLLinkElement} */ (document.querySelector("link[rel=stylesheet]"));
    for (let [link, attempt] = [first, 1]; !isLoaded(link) && attempt < ATTEMPTS; attempt += 1) {
        await pause(delay(attempt - 1));
        const next = /** @type {HTMLLinkElement} */ (first.cloneNode());
        next.href = `${first.href}?again=${attempt}`;
        const settled = new Promise((done) => (next.onload = next.onerror = done));
        link.replaceWith(next);
        await settled;
        link = next;
    }
}

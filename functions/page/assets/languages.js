// The choice of the language.

import { element } from "./dom.js";
import { LANGUAGES } from "./language.js";
import { remember } from "./local.js";

/**
 * The languages of the page, to choose from. The browser remembers which was chosen.
 * @param {string} label
 * @param {() => unknown} changed
 */
export function languageChoice(label, changed) {
    const options = Object.entries(LANGUAGES).map(([tag, name]) =>
        element("option", { value: tag, lang: tag, selected: tag === document.documentElement.lang }, name));
    const choose = (/** @type {Event} */ event) => {
        remember("language", /** @type {HTMLSelectElement} */ (event.target).value);
        return changed();
    };
    return element("label", {}, element("span", { class: "hidden" }, label), element("select", { onchange: choose }, options));
}

// The captions of films.

import { element } from "./dom.js";
import { LANGUAGES } from "./language.js";

/** @typedef {{ language: import("./language.js").Language, url: string }} Captions */

/**
 * The captions of a film, those in the language of the page first and shown.
 * @param {{ captions: Captions[] }} film
 */
export function tracksOf({ captions }) {
    const { lang } = document.documentElement;
    const sorted = [...captions].sort((one, other) => Number(other.language === lang) - Number(one.language === lang));
    return sorted.map(({ language, url }) => element("track", { kind: "captions", srclang: language, label: LANGUAGES[language], src: url, default: language === lang }));
}

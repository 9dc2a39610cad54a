// The language of the page.

import { delay, pause } from "./api.js";

/** @typedef {{ [name: string]: any }} Texts */

/** The languages of the mails, by their own names. */
export const LANGUAGES = { en: "English", de: "Deutsch", fr: "Français", es: "Español", it: "Italiano", nl: "Nederlands" };

/** @typedef {keyof typeof LANGUAGES} Language */

/** @param {unknown} name @returns {name is Language} */
const isKnown = (name) => typeof name === "string" && name in LANGUAGES;

/**
 * The language that the candidate has chosen, the one that the company has for them, or the first one of the browser.
 * @param {string | null} chosen
 * @param {string} [ofCompany]
 * @returns {Language}
 */
export function languageOf(chosen, ofCompany) {
    const wished = [chosen, ofCompany, ...navigator.languages.map((tag) => tag.slice(0, 2)), "en"];
    return wished.find(isKnown) ?? "en";
}

/** How often texts are asked for. */
const ATTEMPTS = 6;

/**
 * The texts of a page in a language.
 * @param {Language} language
 * @param {string} [folder] that of the page's texts, below the candidates'
 * @returns {Promise<Texts>}
 */
export async function loadTexts(language, folder = "") {
    for (let attempt = 0; ; attempt += 1) {
        try {
            // Under another address, since a module that failed once fails for ever.
            return (await import(`./texts/${folder}${language}.js${attempt ? `?again=${attempt}` : ""}`)).default;
        } catch (error) {
            if (attempt + 1 === ATTEMPTS) throw error;
            await pause(delay(attempt));
        }
    }
}

/** Words of companies in a script that is written from right to left, apart from the direction of the text around them. @param {string} value */
const isolated = (value) => (/[\u0590-\u08ff]/.test(value) ? `\u2068${value}\u2069` : value);

/**
 * A text with its values.
 * @param {string} text
 * @param {Record<string, unknown>} values
 */
export const filled = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => isolated(String(values[name] ?? "")));

/**
 * A text about one number, or about several.
 * @param {string} one
 * @param {string} several
 * @param {number[]} numbers
 */
export const listed = (one, several, numbers) =>
    filled(numbers.length === 1 ? one : several, { list: new Intl.ListFormat(document.documentElement.lang).format(numbers.map(String)) });

/**
 * A length of time, such as `2 min 30 s`.
 * @param {Texts} texts
 * @param {number} seconds
 */
export function duration(texts, seconds) {
    const whole = Math.max(Math.ceil(seconds), 0);
    const [m, s] = [Math.floor(whole / 60), whole % 60];
    if (m === 0) return filled(texts.seconds, { n: s });
    return s === 0 ? filled(texts.minutes, { n: m }) : filled(texts.minutesSeconds, { m, s });
}

/** How each language writes a moment, as mails do. @type {Record<string, string>} */
const MOMENTS = {
    en: "{weekday} {day} {month} {year} at {hour}:{minute}",
    de: "{weekday}, {day}. {month} {year}, {hour}:{minute} Uhr",
    fr: "{weekday} {day} {month} {year} à {hour}\u00a0h\u00a0{minute}",
    es: "{weekday}, {day} de {month} de {year}, {hour}:{minute}\u00a0h",
    it: "{weekday} {day} {month} {year}, ore {hour}:{minute}",
    nl: "{weekday} {day} {month} {year}, {hour}.{minute} uur",
};
/** The first day of a month, where people count it. @type {Record<string, string>} */
const FIRST = { fr: "1er", it: "1º" };

/**
 * A moment in full. With the zone, since mails tell the same moment in that of the company.
 * @param {string} moment
 * @param {string} tag the language, perhaps with a region
 */
export function dateText(moment, tag) {
    const language = tag.slice(0, 2);
    const format = new Intl.DateTimeFormat(language, {
        weekday: "long", day: "numeric", month: "long", year: "numeric", hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZoneName: "shortOffset",
    });
    const parts = Object.fromEntries(format.formatToParts(new Date(moment)).map(({ type, value }) => [type, value]));
    if (parts.day === "1") parts.day = FIRST[language] ?? parts.day;
    const zone = format.resolvedOptions().timeZone.replaceAll("_", " ");
    const offset = parts.timeZoneName.replace(/^(GMT|UTC)/, "UTC").replace("-", "−");
    return `${filled(MOMENTS[language], parts)} (${zone === "UTC" ? zone : `${zone}, ${offset === "UTC" ? "UTC+0" : offset}`})`;
}

/** @param {import("./api.js").ApiError} error @param {Texts} texts @returns {string} */
export function refusalText(error, texts) {
    const { refusals } = texts;
    if (error.status === 0) return refusals.network;
    if (error.status === 429) return refusals.throttled;
    if (error.isTransient) return refusals.busy;
    return refusals[error.code] ?? refusals.other;
}

// The frame around every screen: the company and project, the language, the time left, and the state of recordings and drafts.

import { announce, button, element, fill } from "./dom.js";
import { duration, filled } from "./language.js";
import { languageChoice } from "./languages.js";
import { companyIn, contactLine, leadToAccessibility } from "./links.js";

/** @typedef {import("./main.js").App} App */

/** The screens that another language, which draws the screen anew, would end. */
const FIXED = ["connect", "record"];
/** The screens of an answer that has begun. */
const TIMED = ["connect", "prepare", "record"];
/** The time left from which it is always shown, in seconds. */
const SHOWN_SECONDS = 3 * 3600;
/** The times left at which the page warns that the interview ends, in seconds, and for how long. */
const WARNED = [300, 60, 10];
const WARNING = 10;

const [header, status, contact, warning] = ["header", "status", "contact", "warning"].map((id) => /** @type {HTMLElement} */ (document.getElementById(id)));

/** Shows the frame for a state, or updates it. @param {App} app */
export function renderFrame(app) {
    const { candidate, ended, company } = app.model;
    const shown = candidate?.company ?? ended?.company ?? company;
    const name = candidate ? `${candidate.company.name} · ${candidate.project.name}` : (shown?.name ?? app.texts.title);
    const logo = shown?.logo;
    const frame = JSON.stringify([name, logo, app.access.isSession, document.documentElement.lang]);
    if (header.dataset.frame !== frame) {
        header.dataset.frame = frame;
        const logOut = app.access.isSession && button(app.texts.logOut, () => app.attempt(() => app.access.logOut()), { class: "link" });
        const brand = logo && element("img", { class: "logo", src: logo, alt: shown.name });
        const place = element("p", { class: "name", dir: "auto", title: name }, logo && candidate ? candidate.project.name : name);
        const time = element("p", { class: "time" }, element("span", { class: "label" }), element("span"));
        fill(header, brand, place, time, languageChoice(app.texts.language, () => app.attempt(() => app.speak())), logOut);
    }
    // A recording is ended first.
    const isFixed = FIXED.includes(app.model.step.name);
    for (const control of header.querySelectorAll("button, label")) /** @type {HTMLElement} */ (control).hidden = isFixed;
    const time = timeText(app);
    const [label, left] = header.querySelectorAll(".time span");
    write(label, time && app.texts.status.timeLeft.replace("{time}", ""));
    write(left, time);
    /** @type {HTMLElement} */ (header.querySelector(".time")).hidden = !time;
    write(status, statusText(app));
    write(warning, warningText(app));
    const known = shown && "resource_uri" in shown ? companyIn(shown.resource_uri) : app.model.link.company;
    leadToAccessibility(app.texts.accessibility, known);
    // Screens that end something name whom to ask in their text.
    const line = app.screen === "over" ? null : contactLine(app);
    const asked = JSON.stringify([line && app.texts.ask, (candidate ?? ended ?? company)?.contact]);
    if (contact.dataset.asked !== asked) {
        contact.dataset.asked = asked;
        fill(contact, line);
    }
}

/** Changes a text only if it is another one: some readers say it again. @param {Element} place @param {string} text */
function write(place, text) {
    if (place.textContent !== text) place.textContent = text;
}

/**
 * The time of the interview that is left, in seconds; null where it ends nothing: an answer that has begun goes on to the end of
 * its own time, which its screens show.
 * @param {App} app
 */
const timeThatCounts = (app) => (TIMED.includes(app.screen) ? null : app.secondsLeft());

/** The time of the interview, once it is short: days are told as a deadline on the first screen. @param {App} app */
function timeText(app) {
    const left = timeThatCounts(app);
    if (left === null || left > SHOWN_SECONDS) return "";
    return duration(app.texts, left > 120 ? Math.floor(left / 60) * 60 : left);
}

/** The time left when it was last looked at, in seconds. @type {number | null} */
let lastLeft = null;

/** The warning that the interview ends, seen wherever the page is scrolled to, and spoken once. @param {App} app */
function warningText(app) {
    const left = timeThatCounts(app);
    const last = lastLeft;
    lastLeft = left;
    if (left === null) return "";
    const moment = WARNED.find((warned) => left <= warned && left > warned - WARNING);
    if (!moment) return "";
    const text = filled(app.texts.status.endsIn, { time: duration(app.texts, Math.ceil(left)) });
    if (last === null || last > moment) announce(text);
    return text;
}

/** The state of recordings and drafts, in words. @param {App} app */
function statusText({ queue, drafts, model, screen, texts }) {
    const refused = drafts.list.find(({ isSaved, refusal }) => !isSaved && refusal);
    if (refused) return refused.refusal === "time_over" ? texts.status.late : texts.status.refused;
    if (!queue || model.interview?.status !== "interviewing") return "";
    if (queue.isLoggedOut) return texts.status.loggedOut;
    if (!navigator.onLine || queue.isStuck) return texts.status.offline;
    if (!queue.store.isDurable) return texts.status.volatile;
    const percent = queue.percentSent();
    if (queue.progress.takes > 0) return filled(texts.status.sending, { percent });
    if (!drafts.areSaved) return texts.status.typed;
    // What is written is not sent before its button is pressed, and the field says what is saved of it.
    return queue.takes.length > 0 || screen === "write" ? "" : texts.status.sent;
}

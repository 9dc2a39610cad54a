// What a candidate asks for, which managers answer: in words, by more time, by other ways to answer, or by cancelling the interview.

import { element, field, fill } from "../dom.js";
import { filled } from "../language.js";

/** @typedef {import("../staff.js").Staff} Staff */
/** @typedef {import("./interview.js").Interview} Interview */
/** @typedef {import("./fields.js").Field} Field */

/** The states in which more time lets a candidate go on. */
const TIMED = ["invited", "confirmed", "interviewing", "expired", "aborted"];
/** The states that end with the time, and that a manager has to lead out of. */
const ENDED = ["expired", "aborted"];
/** The states in which an interview can be cancelled. */
const CANCELLED = ["new", ...TIMED];
const FACTORS = ["1", "1.25", "1.5", "2", "2.5", "3"];
const MAX_EXTRA_TAKES = 10;

/** The request of the candidate, for those who see it. @param {Staff} app @param {Interview} shown @returns {Field} */
export function helpOf(app, shown) {
    const whole = element("section", { class: "help" });
    let told = "";
    return {
        whole,
        update() {
            const { help_request: request, status } = shown.candidate;
            const next = JSON.stringify([request, status, document.documentElement.lang]);
            if (next === told) return;
            told = next;
            whole.hidden = !request;
            fill(whole, request && about(app, shown, request));
        },
    };
}

/** @param {Staff} app @param {Interview} shown @param {any} request */
function about(app, shown, request) {
    const texts = app.texts.help;
    const names = { name: shown.name };
    const asked = [
        element("h2", {}, filled(request.answered_at ? texts.asked : texts.title, names)),
        element("p", {}, element("b", {}, texts.kinds[request.kind] ?? request.kind), ` · ${app.dateText(request.asked_at)}`),
        element("blockquote", { dir: "auto" }, request.text),
    ];
    const answer = request.answered_at && [
        element("p", {}, filled(texts.answered, { date: app.dateText(request.answered_at) })),
        request.answer && element("blockquote", { dir: "auto" }, request.answer),
    ];
    return element("div", { class: "note" }, asked, answer, !request.answer && answers(app, shown, request));
}

/** The ways to answer, the one that was asked for first. @param {Staff} app @param {Interview} shown @param {any} request */
function answers(app, shown, request) {
    const { status } = shown.candidate;
    const texts = app.texts.help;
    const isOpen = !request.answered_at;
    /** @type {[string, string, () => HTMLElement, boolean][]} */
    const ways = [
        // A new deadline answers the request, but leads nobody on: until that has succeeded too, the form stays.
        ["time", texts.time.title, () => timeForm(app, shown, request), TIMED.includes(status) && (isOpen || ENDED.includes(status))],
        ["adjustment", texts.adjustment.title, () => adjustmentForm(app, shown), isOpen && TIMED.includes(status)],
        ["decline", texts.cancel.title, () => cancelForm(app, shown), isOpen && CANCELLED.includes(status)],
    ];
    const offered = ways.filter(([, , , isOffered]) => isOffered);
    offered.sort(([one], [other]) => Number(other === request.kind) - Number(one === request.kind));
    return [
        wordsForm(app, shown),
        offered.map(([kind, title, form]) => element("details", { class: "more", open: kind === request.kind || !isOpen }, element("summary", {}, title), form())),
    ];
}

/**
 * A form whose action answers the candidate.
 * @param {Staff} app
 * @param {Interview} shown
 * @param {string} label of its button
 * @param {() => Promise<unknown>} act
 * @param {...import("../dom.js").Child} fields
 */
function answering(app, shown, label, act, ...fields) {
    const submit = element("button", { class: "main" }, label);
    return element("form", {
        onsubmit: async (/** @type {Event} */ event) => {
            event.preventDefault();
            if (submit.getAttribute("aria-disabled") === "true") return;
            submit.setAttribute("aria-disabled", "true");
            await app.attempt(async () => {
                await act();
                await shown.reread();
                app.render();
                // The button that was pressed is gone.
                /** @type {HTMLElement | null} */ (document.querySelector("main h1"))?.focus();
            });
            submit.removeAttribute("aria-disabled");
        },
    }, fields, submit);
}

/** @param {Staff} app @param {Interview} shown */
function wordsForm(app, shown) {
    const texts = app.texts.help.words;
    const words = element("textarea", { id: "help-words", rows: 3, maxlength: 1000, required: true, dir: "auto", "aria-describedby": "help-words-hint" });
    const isMailed = shown.candidate.receive_mails && shown.candidate.email;
    const send = () => app.api.send("POST", `${shown.candidate.resource_uri}help-request/answer/`, { text: words.value });
    return answering(app, shown, texts.submit, send, element("div", { class: "field" },
        element("label", { for: "help-words" }, texts.label), words, element("p", { class: "hint", id: "help-words-hint" }, isMailed ? texts.mailed : texts.shown)));
}

/** @param {Staff} app @param {Interview} shown @param {any} request */
function timeForm(app, shown, request) {
    const texts = app.texts.help.time;
    const { candidate } = shown;
    const value = request.answered_at && candidate.deadline ? localTime(new Date(candidate.deadline)) : "";
    const ends = field(texts.label, { name: "help-deadline", type: "datetime-local", required: true, value }, { hint: candidate.deadline ? filled(texts.now, { date: app.dateText(candidate.deadline) }) : undefined });
    const isEnded = ENDED.includes(candidate.status);
    const give = async () => {
        const deadline = new Date(ends.input.value).toISOString();
        await app.api.send("PATCH", `${candidate.resource_uri}deadline/`, { deadline });
        if (isEnded) await app.api.advance(candidate.resource_uri, candidate.status);
    };
    return answering(app, shown, isEnded ? texts.again : texts.submit, give, ends.whole);
}

/** A moment as a field for dates and times has it. @param {Date} at */
const localTime = (at) => new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);

/** @param {Staff} app @param {Interview} shown */
function adjustmentForm(app, shown) {
    const texts = app.texts.help.adjustment;
    const { candidate } = shown;
    const now = candidate.adjustments ?? { time_factor: 1, extra_takes: 0, may_write: false };
    const known = String(Number(now.time_factor));
    const factors = FACTORS.includes(known) ? FACTORS : [known, ...FACTORS];
    const factor = element("select", { id: "help-factor" }, factors.map((value) => element("option", { value, selected: value === known }, `× ${Number(value).toLocaleString(document.documentElement.lang)}`)));
    const takes = field(texts.takes, { name: "help-takes", type: "number", min: 0, max: MAX_EXTRA_TAKES, step: 1, required: true, value: now.extra_takes });
    const write = element("input", { type: "checkbox", checked: now.may_write });
    const give = () => app.api.send("PATCH", candidate.resource_uri, {
        adjustments: { time_factor: Number(factor.value), extra_takes: Number(takes.input.value), may_write: write.checked },
    });
    return answering(app, shown, texts.submit, give,
        element("div", { class: "field" }, element("label", { for: "help-factor" }, texts.factor), factor), takes.whole,
        element("label", { class: "choice" }, write, texts.write));
}

/** @param {Staff} app @param {Interview} shown */
function cancelForm(app, shown) {
    const texts = app.texts.help.cancel;
    const reason = field(texts.reason, { name: "help-reason", maxlength: 200, required: true, autocomplete: "off", dir: "auto" }, { hint: texts.hint });
    const notify = element("input", { type: "checkbox", checked: true });
    const cancel = () => app.api.send("POST", `${shown.candidate.resource_uri}cancel/`, { reason: reason.input.value, notify: notify.checked });
    return answering(app, shown, texts.submit, async () => {
        if (confirm(filled(texts.sure, { name: shown.name }))) await cancel();
    }, reason.whole, element("label", { class: "choice" }, notify, texts.notify));
}

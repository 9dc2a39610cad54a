// All questions, and how far each answer is.

import { button, element, fill } from "../dom.js";
import { duration, filled, listed } from "../language.js";
import { answerState, answerTo, hasDraft, isComplete, isWritten } from "../state.js";
import { adjustedSeconds } from "../takes.js";
import { titleOf, unanswerableText } from "./question.js";

/** The length of a question from which its text is folded, in characters. */
const FOLDED = 280;

/** @param {import("../main.js").App} app @returns {import("../main.js").View} */
export function showOverview(app) {
    const texts = app.texts.overview;
    const list = element("ol", { class: "questions" });
    const end = element("div", { class: "end" });
    let shown = "";

    function update() {
        const { model } = app;
        const states = model.questions.map((question) => answerState(model, question.resource_uri));
        const missing = model.questions.flatMap((question, index) => (isOpen(app, question) ? [index + 1] : []));
        const lost = states.flatMap((state, index) => (state === "unanswerable" ? [index + 1] : []));
        const playable = model.questions.map((question) => Boolean(answerTo(model, question.resource_uri)?.streams?.mp4));
        const beside = model.questions.map((question) => hasDraft(model, question.resource_uri));
        const now = JSON.stringify([states, missing, playable, beside]);
        // Only a change is drawn, so that the focus of the keyboard stays.
        if (now === shown) return;
        shown = now;
        fill(list, model.questions.map((question, index) => entry(app, question, index + 1)));
        const complete = button(texts.complete, () => app.go("complete"), { class: "main" });
        const ready = lost.length > 0 ? listed(texts.withoutOne, texts.without, lost) : texts.ready;
        fill(end, isComplete(model)
            ? [element("p", {}, `${ready} ${texts.end}`), complete]
            : element("p", { class: "note" }, listed(texts.missingOne, texts.missing, missing)));
    }

    const intro = isWritten(app.model) ? texts.intro : `${texts.intro} ${texts.attempts}`;
    return { title: texts.title, content: [reopeningNote(app), element("p", {}, intro), list, end], update };
}

/** Tells that the interview was reopened, with the company's message. @param {import("../main.js").App} app */
function reopeningNote({ model, texts: { overview: texts } }) {
    const { interview, candidate } = model;
    if (!interview?.is_reopened) return null;
    const names = { company: candidate?.company.name };
    return element("div", { class: "note reopened" },
        element("p", {}, filled(texts.reopened, names)),
        interview.message && [element("p", {}, filled(texts.writes, names)), element("blockquote", { dir: "auto" }, interview.message)]);
}

/** Whether a required answer is missing and not on its way. @param {import("../main.js").App} app @param {import("../types.js").Question} question */
function isOpen({ model }, question) {
    return (model.interview?.missing.includes(question.resource_uri) ?? false) && !["sending", "draft"].includes(answerState(model, question.resource_uri));
}

/** @param {import("../main.js").App} app @param {import("../types.js").Question} question @param {number} n */
function entry(app, question, n) {
    const texts = app.texts.overview;
    const state = answerState(app.model, question.resource_uri);
    const answer = answerTo(app.model, question.resource_uri);
    const isRecorded = question.kind === "video";
    const canAnswer = question.kind === "text" || (answer?.takes_left ?? 0) > 0 || state === "elsewhere" || app.model.candidate?.adjustments?.may_write;
    const label = filled(state === "none" || state === "draft" ? texts.answer : texts.again, { n });
    const facts = [
        app.texts.states[state], state !== "draft" && hasDraft(app.model, question.resource_uri) && texts.beside, question.is_required ? texts.required : texts.optional,
        isRecorded && filled(texts.length, { time: duration(app.texts, adjustedSeconds(app, question.answer_seconds)) }),
    ];
    return element("li", { "data-state": state },
        element("h2", {}, titleOf(app, question.resource_uri)),
        question.text === null ? element("p", { class: "hint" }, texts.hidden) : folded(app, question.text),
        element("p", { class: "state" }, facts.filter(Boolean).join(" · ")),
        state === "kept" && answer?.streams?.mp4 && watcher(app, answer, filled(texts.watch, { n })),
        canAnswer
            ? button(label, () => app.go("question", question.resource_uri))
            : element("p", { class: "hint" }, state === "unanswerable" ? unanswerableText(app) : app.texts.question.noTakes));
}

/** A text that need not be read here to its end. @param {import("../main.js").App} app @param {string} text */
function folded(app, text) {
    const asked = element("p", { class: "asked", dir: "auto" }, text);
    if (text.length <= FOLDED) return asked;
    asked.classList.add("folded");
    const unfold = button(app.texts.overview.unfold, () => {
        asked.classList.remove("folded");
        unfold.remove();
        asked.tabIndex = -1;
        asked.focus();
    }, { class: "link" });
    return [asked, unfold];
}

/** The kept answer, to be watched again. @param {import("../main.js").App} app @param {import("../types.js").Answer} answer @param {string} label */
export function watcher(app, answer, label) {
    const place = element("div", {}, button(label, () => app.attempt(async () => {
        // Addresses end with the session that was shown them.
        const { streams } = await app.api.get(answer.resource_uri);
        if (!streams?.mp4) return;
        const video = element("video", { controls: true, autoplay: true, playsinline: true, "aria-label": label, src: streams.mp4, tabindex: 0 });
        fill(place, video);
        video.focus();
    })));
    return place;
}

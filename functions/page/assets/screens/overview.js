// All questions, and how far each answer is.

import { button, element, fill } from "../dom.js";
import { duration, filled } from "../language.js";
import { answerState, answerTo, hasDraft, isComplete } from "../state.js";
import { adjustedSeconds } from "../takes.js";
import { titleOf, unanswerableText } from "./question.js";

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
        const ready = lost.length > 0 ? filled(texts.without, { list: lost.join(", ") }) : texts.ready;
        fill(end, isComplete(model)
            ? [element("p", {}, `${ready} ${texts.end}`), complete]
            : element("p", { class: "note" }, filled(texts.missing, { list: missing.join(", ") })));
    }

    return { title: texts.title, content: [reopeningNote(app), element("p", {}, texts.intro), list, end], update };
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
        element("p", { class: question.text === null ? "hint" : "asked", dir: "auto" }, question.text ?? texts.hidden),
        element("p", { class: "state" }, facts.filter(Boolean).join(" · ")),
        state === "kept" && answer?.streams?.mp4 && watcher(app, answer, filled(texts.watch, { n })),
        canAnswer
            ? button(label, () => app.go("question", question.resource_uri))
            : element("p", { class: "hint" }, state === "unanswerable" ? unanswerableText(app) : app.texts.question.noTakes));
}

/** The kept answer, to be watched again. @param {import("../main.js").App} app @param {import("../types.js").Answer} answer @param {string} label */
function watcher(app, answer, label) {
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

// All questions, and how far each answer is.

import { button, element, fill } from "../dom.js";
import { filled } from "../language.js";
import { answerState, answerTo, isComplete } from "../state.js";

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
        const now = JSON.stringify([states, missing]);
        // Only a change is drawn, so that the focus of the keyboard stays.
        if (now === shown) return;
        shown = now;
        fill(list, model.questions.map((question, index) => entry(app, question, index + 1)));
        const complete = button(texts.complete, () => app.go("sending"), { class: "main" });
        fill(end, isComplete(model)
            ? [element("p", {}, `${texts.ready} ${texts.end}`), complete]
            : element("p", { class: "note" }, filled(texts.missing, { list: missing.join(", ") })));
    }

    return { title: texts.title, content: [element("p", {}, texts.intro), list, end], update };
}

/** Whether a required answer is missing and not on its way. @param {import("../main.js").App} app @param {import("../types.js").Question} question */
function isOpen({ model }, question) {
    return (model.interview?.missing.includes(question.resource_uri) ?? false) && answerState(model, question.resource_uri) !== "sending";
}

/** @param {import("../main.js").App} app @param {import("../types.js").Question} question @param {number} n */
function entry(app, question, n) {
    const texts = app.texts.overview;
    const state = answerState(app.model, question.resource_uri);
    const answer = answerTo(app.model, question.resource_uri);
    const canAnswer = question.kind === "text" || (answer?.takes_left ?? 0) > 0 || state === "elsewhere" || app.model.candidate?.adjustments?.may_write;
    const label = filled(state === "none" ? texts.answer : texts.again, { n });
    return element("li", { "data-state": state },
        element("h2", {}, filled(texts.question, { n })),
        element("p", { class: question.text === null ? "hint" : "asked" }, question.text ?? texts.hidden),
        element("p", { class: "state" }, `${app.texts.states[state]} · ${question.is_required ? texts.required : texts.optional}`),
        canAnswer ? button(label, () => app.go("question", question.resource_uri)) : element("p", { class: "hint" }, app.texts.question.noTakes));
}

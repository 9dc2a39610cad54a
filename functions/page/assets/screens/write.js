// An answer in writing.

import { ApiError } from "../api.js";
import { button, element } from "../dom.js";
import { draftName } from "../kept.js";
import { filled } from "../language.js";
import { answerTo, questionOf } from "../state.js";
import { remember, remembered } from "../local.js";
import { titleOf } from "./question.js";

/** The most characters that the service accepts. */
const MAX = 2000;

/** @param {import("../main.js").App} app @param {import("../state.js").Screen} screen @returns {import("../main.js").View} */
export function showWrite(app, { question: uri = "" }) {
    const texts = app.texts.write;
    const answer = answerTo(app.model, uri);
    // A draft outlives a reload, and ends when the answer is saved.
    const draft = draftName(answer?.resource_uri ?? "");
    const text = element("textarea", { id: "answer", rows: 10, dir: "auto", maxlength: MAX, "aria-describedby": "answer-left answer-error" });
    text.value = remembered(draft) ?? answer?.text ?? "";
    const left = element("p", { class: "hint", id: "answer-left" });
    const error = element("p", { class: "error", id: "answer-error", role: "alert" });
    /** The tag of the answer as this window has read it. @type {Promise<string | undefined>} */
    const read = answer?.text ? app.api.send("GET", answer.resource_uri).then(({ tag }) => tag, () => undefined) : Promise.resolve(undefined);

    function count() {
        remember(draft, text.value);
        left.textContent = filled(texts.left, { n: MAX - text.value.length });
    }

    async function save() {
        error.textContent = "";
        if (text.value.trim() === "") {
            error.textContent = texts.empty;
            text.focus();
            return;
        }
        try {
            await app.api.send("PUT", answer?.resource_uri ?? "", { text: text.value }, { match: await read });
        } catch (failure) {
            if (!(failure instanceof ApiError) || (failure.status !== 412 && !failure.about("text"))) throw failure;
            error.textContent = failure.status === 412 ? texts.changed : texts.refused;
            return;
        }
        remember(draft, null);
        await app.goAfter(app.follow(), "overview");
    }

    text.addEventListener("input", count);
    count();
    return {
        title: titleOf(app, uri),
        content: [
            element("p", { class: "asked", dir: "auto" }, questionOf(app.model, uri)?.text),
            element("div", { class: "field" }, element("label", { for: "answer" }, texts.label), text, left, error),
            button(texts.save, () => app.attempt(save), { class: "main" }),
            button(app.texts.back, () => app.go("question", uri), { class: "link" }),
        ],
    };
}

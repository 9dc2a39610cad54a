// An answer in writing.

import { announce, button, element, fill } from "../dom.js";
import { ApiError } from "../api.js";
import { filled } from "../language.js";
import { answerTo, questionOf } from "../state.js";
import { titleOf } from "./question.js";

/** The most characters that the service accepts. */
const MAX = 2000;

/** @param {import("../main.js").App} app @param {import("../state.js").Screen} screen @returns {import("../main.js").View} */
export function showWrite(app, { question: uri = "" }) {
    const texts = app.texts.write;
    const answer = /** @type {import("../types.js").Answer} */ (answerTo(app.model, uri));
    const draft = app.drafts.open(answer);
    const text = element("textarea", { id: "answer", rows: 10, dir: "auto", maxlength: MAX, "aria-describedby": "answer-left answer-state answer-error" });
    text.value = draft.text;
    const left = element("p", { class: "hint", id: "answer-left" });
    const state = element("p", { class: "hint saved", id: "answer-state" });
    const error = element("p", { class: "error", id: "answer-error", role: "alert" });
    const other = element("div", { class: "note", hidden: true });

    function type() {
        error.textContent = "";
        draft.type(text.value);
        update();
    }

    /** Goes on with one of two texts. @param {string} chosen */
    function choose(chosen) {
        text.value = chosen;
        draft.settle(chosen);
        text.focus();
    }

    function update() {
        left.textContent = filled(texts.left, { n: MAX - text.value.length });
        const said = text.readOnly ? texts.sending : draft.refusal ? texts.refused : draft.isSaved ? (draft.isDraft ? texts.saved : "") : texts.unsaved;
        if (state.textContent !== said) state.textContent = said;
        state.dataset.state = draft.isSaved ? "saved" : "unsaved";
        if (other.hidden !== (draft.other === null)) showOther();
    }

    /** Shows both texts until the candidate has chosen one. */
    function showOther() {
        const found = draft.other;
        other.hidden = found === null;
        if (found === null) return;
        announce(texts.changed);
        fill(other,
            element("p", {}, texts.changed), element("p", { class: "other", dir: "auto" }, found),
            button(texts.keepMine, () => choose(text.value)), button(texts.useOther, () => choose(found)));
        // Nothing is saved before the candidate has chosen.
        other.scrollIntoView({ block: "nearest" });
    }

    /**
     * Sends the text as the answer. Returns whether the service has taken it.
     * @param {number} [tries]
     * @returns {Promise<boolean>}
     */
    async function put(tries = 3) {
        const tag = await app.api.send("GET", answer.resource_uri).then((read) => read.tag, withoutAnswer);
        // Another window may have sent an answer, or saved a draft, which an answer ends.
        if (await draft.isReplaced()) return false;
        try {
            await app.api.send("PUT", answer.resource_uri, { text: text.value }, { match: tag });
            return true;
        } catch (failure) {
            if (!(failure instanceof ApiError)) throw failure;
            // Changed since the tag was read.
            if (failure.status === 412 && tries > 1) return put(tries - 1);
            if (!failure.about("text")) throw failure;
            error.textContent = texts.notAccepted;
            return false;
        }
    }

    async function send() {
        error.textContent = "";
        if (text.value.trim() === "") {
            error.textContent = texts.empty;
            text.focus();
            return;
        }
        let isSent = false;
        // Words typed meanwhile would neither be sent nor kept.
        text.readOnly = true;
        update();
        // A draft that arrived after the answer would be kept as a change of it.
        await draft.close();
        try {
            isSent = await put();
        } finally {
            text.readOnly = false;
            if (!isSent) draft.reopen();
        }
        if (!isSent) return;
        app.drafts.forget(uri);
        await app.goAfter(app.follow(), "overview");
    }

    text.addEventListener("input", type);
    return {
        title: titleOf(app, uri),
        content: [
            element("p", { class: "asked", dir: "auto" }, questionOf(app.model, uri)?.text),
            answer.text !== null && element("p", { class: "hint" }, filled(texts.beside, { send: texts.send })),
            element("div", { class: "field" }, element("label", { for: "answer" }, texts.label), text, left, state, error),
            other,
            button(texts.send, () => app.attempt(send), { class: "main" }),
            button(app.texts.back, () => app.go("question", uri), { class: "link" }),
        ],
        update,
        leave: () => draft.send(),
    };
}

/** There is no answer yet. @param {unknown} error */
function withoutAnswer(error) {
    if (!(error instanceof ApiError) || error.status !== 404) throw error;
    return undefined;
}

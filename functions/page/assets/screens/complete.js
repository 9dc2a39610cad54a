// Asks whether to complete the interview as it is.

import { button, element, factList } from "../dom.js";
import { filled } from "../language.js";
import { answerState, hasDraft } from "../state.js";

/** @param {import("../main.js").App} app @returns {import("../main.js").View} */
export function showComplete(app) {
    const texts = app.texts.complete;
    const { model } = app;
    const numbered = model.questions.map((question, index) => ({ n: index + 1, uri: question.resource_uri, state: answerState(model, question.resource_uri) }));
    const listed = (/** @type {(entry: typeof numbered[number]) => boolean} */ isListed) => numbered.filter(isListed).map(({ n }) => n).join(", ");
    // This screen comes once all required questions are answered or have a draft, so open ones are optional.
    const open = listed(({ state }) => ["none", "elsewhere", "failed", "refused"].includes(state));
    const lost = listed(({ state }) => state === "unanswerable");
    const drafts = listed(({ state }) => state === "draft");
    const beside = listed(({ state, uri }) => state !== "draft" && hasDraft(model, uri));
    const facts = [open && [texts.open, open], lost && [texts.lost, lost], drafts && [texts.drafts, drafts], beside && [texts.beside, beside]];

    async function complete() {
        const unsaved = await app.drafts.flush();
        if (unsaved === null) return app.go("sending");
        app.go("write", unsaved);
    }

    return {
        title: texts.title,
        content: [
            element("p", {}, facts.some(Boolean) ? texts.some : texts.all),
            facts.some(Boolean) && factList(facts.map((fact) => fact || null)),
            element("p", {}, filled(texts.end, { company: model.candidate?.company.name })),
            button(texts.yes, () => app.attempt(complete), { class: "main" }),
            button(texts.no, () => app.go("overview"), { class: "link" }),
        ],
    };
}

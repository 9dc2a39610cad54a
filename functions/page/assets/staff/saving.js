// What becomes of what the reader has typed, in words, and the buttons that save what is not saved by itself.

import { button, element, fill } from "../dom.js";
import { filled } from "../language.js";

/** @typedef {import("../staff.js").Staff} Staff */
/** @typedef {import("./draft.js").Draft} Draft */

/** @param {Staff} app @param {Draft} draft @returns {import("./fields.js").Field} */
export function savePanel(app, draft) {
    const { saving } = app.texts;
    const text = element("p", { class: "saved", role: "status" });
    const ways = element("div", { class: "ways" });
    let offered = "";
    const buttons = {
        again: () => [button(app.texts.notice.again, () => app.session.openWindow(), { class: "main" })],
        none: () => [],
        change: () => [button(saving.change, () => draft.edit())],
        edit: () => [button(saving.save, () => draft.save({ completed: true }), { class: "main" }), button(saving.discard, () => draft.discard())],
    };
    return {
        whole: element("div", { class: "saving" }, text, ways),
        update() {
            const told = stateText(app, draft);
            if (text.textContent !== told) fill(text, told);
            const { kind } = app.notice;
            text.dataset.state = kind ? "refused" : draft.state;
            const offer = kind === "signedOut" || kind === "other" ? "again" : !draft.isCompleted ? "none" : draft.isEditing ? "edit" : "change";
            if (offer === offered) return;
            offered = offer;
            const hadFocus = ways.contains(document.activeElement);
            fill(ways, buttons[offer]());
            // The button that was pressed is gone.
            if (hadFocus) /** @type {HTMLElement | null} */ (ways.querySelector("button"))?.focus();
        },
    };
}

/** How far the evaluation is saved. @param {Staff} app @param {Draft} draft */
function stateText(app, draft) {
    const { saving, notice } = app.texts;
    const { kind, name } = app.notice;
    if (kind) return filled(notice[kind], { name });
    if (draft.isHeldBack) return saving.held;
    if (draft.isCompleted && (draft.state === "saved" || draft.state === "unsaved")) return completedText(app, draft);
    // The page says in its notice what is gone.
    if (draft.state === "refused") return draft.refusal?.isAboutAccess ? saving.unsaved : app.refusalText(/** @type {import("../api.js").ApiError} */ (draft.refusal));
    if (draft.state === "saved") return draft.tag ? saving.saved : saving.nothing;
    return saving[draft.state];
}

/** That the evaluation is complete, and whether something was typed since. @param {Staff} app @param {Draft} draft */
function completedText(app, draft) {
    const { saving } = app.texts;
    const isChanged = draft.state === "unsaved";
    if (isChanged && !draft.isCompletedElsewhere) return saving.changed;
    const completed = filled(draft.isCompletedElsewhere ? saving.completedElsewhere : saving.completed, { date: app.dateText(draft.completedAt ?? "") });
    return isChanged ? `${completed} ${saving.changed}` : completed;
}

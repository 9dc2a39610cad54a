// Ends of the interview, and reasons why there is none.

import { button, element } from "../dom.js";
import { filled } from "../language.js";

/** @param {import("../main.js").App} app @returns {import("../main.js").View} */
export function showDone(app) {
    const { candidate } = app.model;
    const names = { name: candidate?.first_name, company: candidate?.company.name };
    const { title, text, close } = app.texts.done;
    return {
        title: filled(title, names),
        content: [element("p", { class: "lead" }, filled(text, names)), element("p", {}, close)],
    };
}

/** @param {import("../main.js").App} app @param {import("../state.js").Screen} screen @returns {import("../main.js").View} */
export function showOver(app, { reason = "link" }) {
    const { title, text } = app.texts.over[reason];
    const company = app.model.candidate?.company.name ?? "";
    const again = reason === "offline" && button(app.texts.tryAgain, () => app.attempt(() => app.load()), { class: "main" });
    return { title, content: [element("p", { class: "lead" }, filled(text, { company })), again] };
}

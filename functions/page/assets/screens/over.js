// Ends of the interview, and reasons why there is none.

import { button, element, factList } from "../dom.js";
import { filled } from "../language.js";
import { buttonTo, contactLine, loginOf, returnButton } from "../links.js";

/** @param {import("../main.js").App} app @returns {import("../main.js").View} */
export function showDone(app) {
    const { candidate } = app.model;
    const names = { name: candidate?.first_name, company: candidate?.company.name };
    const { title, text, close } = app.texts.done;
    return {
        title: filled(title, names),
        content: [element("p", { class: "lead" }, filled(text, names)), returnButton(app) ?? element("p", {}, close)],
    };
}

/** @param {import("../main.js").App} app @param {import("../state.js").Screen} screen @returns {import("../main.js").View} */
export function showOver(app, { reason = "link" }) {
    const { candidate, ended } = app.model;
    const { title, text } = app.texts.over[reason];
    const company = (candidate ?? ended)?.company.name ?? "";
    const contact = contactLine(app);
    return {
        title,
        content: [
            element("p", { class: "lead" }, filled(text, { company, forgotten: app.texts.login.forgotten })),
            reason === "completed" && [completion(app), returnButton(app)],
            contact && element("p", {}, contact),
            (reason === "offline" || reason === "busy") && button(app.texts.tryAgain, () => app.attempt(() => app.load()), { class: "main" }),
            reason === "replaced" && ended && buttonTo(loginOf(ended.company.resource_uri), app.texts.login.submit),
        ],
    };
}

/** What arrived of the interview that a key was for. @param {import("../main.js").App} app */
function completion({ model, texts }) {
    const { interviewdate, answers } = /** @type {import("../types.js").EndedKey} */ (model.ended);
    const date = interviewdate && new Date(interviewdate).toLocaleString(document.documentElement.lang, { dateStyle: "long", timeStyle: "short" });
    // Without a number of 0: the platform may have completed it elsewhere.
    const lines = [date && [texts.over.completed.date, date], answers && [texts.over.completed.answers, answers]];
    return factList(lines);
}

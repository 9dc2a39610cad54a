// Ends of the interview, and reasons why there is none.

import { button, element, factList } from "../dom.js";
import { dateText, filled } from "../language.js";
import { contactLine, returnButton } from "../links.js";
import { isWritten } from "../state.js";
import { accountFacts, wayOn } from "./account.js";

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
            reason === "skipped" && keptAnswers(app, company),
            reason === "completed" && [completion(app, app.texts.over.completed), returnButton(app)],
            reason === "ended" && completion(app, app.texts.over.ended),
            reason === "replaced" && linkSender(app, company),
            (reason === "used" || reason === "usedAddress") && [accountFacts(app), wayOn(app)],
            contact && element("p", {}, contact),
            reason === "window" && button(app.texts.over.here, () => takeOver(app), { class: "main" }),
            (reason === "offline" || reason === "busy") && button(app.texts.tryAgain, () => app.attempt(() => app.access.load()), { class: "main" }),
        ],
    };
}

/** What became of the answers, for those who see the company cancel the interview. @param {import("../main.js").App} app @param {string} company */
function keptAnswers({ model, texts }, company) {
    if (!model.interview?.started_at) return null;
    const { off, during } = texts.over.skipped;
    return element("p", {}, !isWritten(model) && `${off} `, filled(during, { company }));
}

/** The number of answers that arrived, and the end of the interview. @param {import("../main.js").App} app @param {{ date: string, answers: string }} texts */
function completion({ model: { ended, interview } }, texts) {
    const moment = ended?.interviewdate ?? ended?.ended_at ?? interview?.ended_at;
    const answers = ended ? ended.answers : interview?.answers.filter(({ take, text }) => take || text !== null).length;
    const date = moment && dateText(moment, document.documentElement.lang);
    // Without a number of 0: the platform may have completed it elsewhere.
    return factList([date && [texts.date, date], answers && [texts.answers, answers]]);
}

/** Goes on in this window, unless the other one records. @param {import("../main.js").App} app */
async function takeOver(app) {
    app.problem.textContent = "";
    const isOurs = await app.turn?.takeOver();
    if (!isOurs) app.problem.textContent = app.texts.over.recordsThere;
}

/** Has the link that works mailed, to the address that only the company knows. @param {import("../main.js").App} app @param {string} company */
function linkSender(app, company) {
    const texts = app.texts.over;
    const sent = element("p", { role: "status" });
    const send = button(texts.sendLink, () => app.attempt(async () => {
        await app.api.send("POST", "/candidate-links/", { key: app.key });
        send.remove();
        sent.textContent = filled(texts.linkSent, { company });
    }), { class: "main" });
    return [send, sent];
}

// A question with its answer, and the reader's own rating of it.

import { button, element, fill } from "../dom.js";
import { duration, filled } from "../language.js";
import { openList, showAsked } from "../player/question.js";
import { fieldOf } from "./draft.js";
import { ratingOf } from "./fields.js";
import { savePanel } from "./saving.js";

/** @typedef {import("../staff.js").Staff} Staff */
/** @typedef {import("./interview.js").Interview} Interview */

/** @param {Staff} app @param {Interview} shown */
export function showQuestion(app, shown) {
    const { texts } = app;
    const { number, answers, draft, project } = shown;
    const { question: reference } = answers[number - 1];
    const next = button(number === answers.length ? texts.question.toEvaluation : texts.question.next, () => app.goTo(number + 1));
    const all = dialogOf(app, shown);
    const steps = [
        number > 1 && button(texts.back, () => app.goTo(number - 1)),
        button(texts.question.list, () => all.open(), { "aria-haspopup": "dialog" }),
        next,
    ];
    const reload = () => app.reread();
    const asked = showAsked(shown.asked(number), shown.films(), texts, { number, steps: steps.filter((step) => step !== false), next, reload });
    const question = project?.questions.find((/** @type {any} */ one) => one.resource_uri === reference);
    const rating = draft && question && ratingOf(app, draft, question);
    const panel = draft && question && savePanel(app, draft);
    const note = question?.internal_description;
    return {
        content: [
            element("h2", { tabindex: -1, class: "number" }, filled(texts.question.title, { n: number, total: answers.length })),
            element("div", { class: "pair" },
                asked.whole,
                element("div", { class: "rated" },
                    note && element("p", { class: "hint", dir: "auto" }, note),
                    rating && [element("h3", {}, texts.judge.own), rating.whole],
                    panel?.whole)),
            all.whole,
        ],
        update() {
            asked.update();
            rating?.update();
            panel?.update();
        },
    };
}

/** All questions over the page, to go to one. @param {Staff} app @param {Interview} shown */
function dialogOf(app, shown) {
    const { texts } = app;
    const dialog = element("dialog", { "aria-labelledby": "all" });
    const go = (/** @type {number} */ number) => {
        dialog.close();
        app.goTo(number);
    };
    const entry = (/** @type {any} */ answer, /** @type {number} */ index) => {
        const number = index + 1;
        const leading = button("", () => go(number), { "aria-current": number === shown.number && "true" });
        fill(leading, element("span", { class: "number" }, number), element("span", {}, element("span", { class: "short", dir: "auto" }, answer.question_text), element("span", { class: "hint" }, stateText(app, shown, answer))));
        return element("li", {}, leading);
    };
    return {
        whole: dialog,
        open() {
            fill(dialog,
                element("h2", { id: "all" }, texts.question.list),
                element("ol", { class: "all" }, shown.answers.map(entry)),
                button(texts.question.toEvaluation, () => go(shown.answers.length + 1), { class: "main" }),
                button(texts.question.close, () => dialog.close()));
            openList(dialog);
        },
    };
}

/** How a question was answered, and how the reader has rated that, in words. @param {Staff} app @param {Interview} shown @param {any} answer */
function stateText({ texts }, { draft }, answer) {
    const length = answer.text ? texts.question.written : answer.seconds ? duration(texts, answer.seconds) : texts.question.none;
    const value = draft?.get(fieldOf(answer.question, "value"));
    return value ? `${length} · ${filled(texts.judge.rated, { value })}` : length;
}

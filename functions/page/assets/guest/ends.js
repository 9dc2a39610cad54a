// Where a guest begins and ends, and reasons why there is nothing to watch.

import { button, element, factList } from "../dom.js";
import { duration, filled } from "../language.js";
import { contactText } from "../links.js";
import { listOf } from "./question.js";

/** @param {import("../guest.js").Guest} guest @returns {import("../guest.js").View} */
export function showWelcome(guest) {
    const texts = guest.texts.welcome;
    const { company, project, questions, ended_at: endedAt } = /** @type {import("./state.js").Review} */ (guest.model.review);
    const names = { name: guest.name, company: company.name, project: project.name };
    const seconds = questions.reduce((sum, { answer }) => sum + (answer?.seconds ?? 0), 0);
    return {
        title: guest.name === undefined ? texts.hidden : filled(texts.title, names),
        content: [
            element("p", { class: "lead" }, filled(texts.text, names)),
            factList([
                endedAt && [texts.date, guest.dateText(endedAt)],
                [texts.questions, questions.length],
                seconds > 0 && [texts.length, duration(guest.texts, seconds)],
                [guest.texts.until, guest.end],
            ]),
            element("p", {}, texts.how),
            element("p", { class: "note" }, filled(texts.personal, names)),
            button(texts.begin, () => guest.go(1), { class: "main" }),
            element("h2", {}, guest.texts.question.all),
            listOf(guest),
        ],
    };
}

/** @param {import("../guest.js").Guest} guest @param {import("./state.js").Screen} screen @returns {import("../guest.js").View} */
export function showEnd(guest, { last }) {
    const texts = guest.texts.end;
    return {
        title: texts.title,
        content: [
            element("p", { class: "lead" }, texts.text),
            element("p", {}, filled(texts.until, { date: guest.end })),
            element("div", { class: "controls steps" },
                button(guest.texts.back, () => guest.go(last - 1)),
                button(texts.again, () => guest.go(0))),
        ],
    };
}

/** @param {import("../guest.js").Guest} guest @param {import("./state.js").Screen} screen @returns {import("../guest.js").View} */
export function showOver(guest, { reason = "busy" }) {
    const { title, text } = guest.texts.over[reason];
    const { company, contact } = guest.model.ended ?? {};
    const isPassing = reason === "offline" || reason === "busy" || reason === "resting";
    const again = async () => {
        await guest.load();
        guest.show();
    };
    return {
        title,
        content: [
            element("p", { class: "lead" }, filled(text, { company: company?.name })),
            contact && element("p", {}, contactText(guest.texts.ask, contact)),
            isPassing && button(guest.texts.tryAgain, again, { class: "main" }),
        ],
    };
}

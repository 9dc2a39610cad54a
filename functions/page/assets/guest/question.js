// One question and its answer, with the ways to the others.

import { button, element, fill } from "../dom.js";
import { duration, filled } from "../language.js";
import { openList, showAsked } from "../player/question.js";
import { askedIn } from "./state.js";

/** @typedef {import("./state.js").Review} Review */

/** @param {import("../guest.js").Guest} guest @param {import("./state.js").Screen} screen @returns {import("../guest.js").View} */
export function showQuestion(guest, { number, last }) {
    const texts = guest.texts.question;
    const review = /** @type {Review} */ (guest.model.review);
    const title = filled(texts.title, { n: number, total: last - 1 });
    const next = button(number + 1 === last ? texts.finish : texts.next, () => guest.go(number + 1));
    const all = dialogOf(guest);
    const steps = [
        button(guest.texts.back, () => guest.go(number - 1)),
        button(guest.texts.welcome.questions, () => openList(all), { "aria-haspopup": "dialog" }),
        next,
    ];
    const reload = async () => {
        await guest.load();
        guest.render();
        return guest.model.fault;
    };
    const shown = showAsked(askedIn(review, number), guest.playbackOf(number), guest.texts, { number, steps, next, reload });
    return { title, content: [shown.whole, element("p", { class: "hint keys" }, texts.keys), all], update: shown.update };
}

/** All questions over the screen, to go to one. @param {import("../guest.js").Guest} guest */
function dialogOf(guest) {
    const { texts } = guest;
    const dialog = element("dialog", { "aria-labelledby": "all" });
    const close = button(texts.question.close, () => dialog.close());
    fill(dialog, element("h2", { id: "all" }, texts.question.all), listOf(guest), close);
    return dialog;
}

/** The questions, each of which leads to its answer. @param {import("../guest.js").Guest} guest */
export function listOf(guest) {
    const review = /** @type {Review} */ (guest.model.review);
    const { place } = guest.model;
    const entry = (/** @type {{ text: string }} */ { text }, /** @type {number} */ index) => {
        const number = index + 1;
        const lines = [element("span", { class: "short", dir: "auto" }, text), element("span", { class: "hint" }, kindText(guest, review, number))];
        const leading = button("", () => guest.go(number), { "aria-current": number === place && "true" });
        fill(leading, element("span", { class: "number" }, number), element("span", {}, lines));
        return element("li", {}, leading);
    };
    return element("ol", { class: "all" }, review.questions.map(entry));
}

/** How a question was answered, in words. @param {import("../guest.js").Guest} guest @param {Review} review @param {number} number */
function kindText({ texts }, review, number) {
    const { kind } = askedIn(review, number).answer;
    return kind === "recorded" ? duration(texts, review.questions[number - 1].answer?.seconds ?? 0) : texts.kinds[kind];
}

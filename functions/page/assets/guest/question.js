// One question and its answer.

import { button, element, fill } from "../dom.js";
import { filled } from "../language.js";
import { answerKind, faultOf } from "./state.js";

/** @param {import("../guest.js").Guest} guest @param {import("./state.js").Screen} screen @returns {import("../guest.js").View} */
export function showQuestion(guest, { number, last }) {
    const texts = guest.texts.question;
    const review = /** @type {import("./state.js").Review} */ (guest.model.review);
    const { text, answer } = review.questions[number - 1];
    const kind = answerKind(review, number);
    const next = button(number + 1 === last ? texts.finish : texts.next, () => guest.go(number + 1), { class: kind === "recorded" ? "" : "main" });
    const shown = kind === "recorded" ? recorded(guest, number, next) : { content: without(guest, kind, answer?.text), update: undefined };
    return {
        title: filled(texts.title, { n: number, total: last - 1 }),
        content: [
            element("p", { class: "asked", dir: "auto" }, text), shown.content,
            element("div", { class: "controls steps" }, button(guest.texts.back, () => guest.go(number - 1)), next),
            element("p", { class: "hint keys" }, texts.keys),
        ],
        update: shown.update,
    };
}

/**
 * A recorded answer with a button that plays it, and what keeps it from playing.
 * @param {import("../guest.js").Guest} guest
 * @param {number} number
 * @param {HTMLElement} next
 */
function recorded(guest, number, next) {
    const texts = guest.texts.question;
    const player = guest.playerOf(number);
    player.video.setAttribute("aria-label", filled(texts.video, { n: number }));
    const play = button("", () => player.toggle());
    const problem = element("p", { class: "problem", role: "alert" });
    const state = element("p", { class: "hint state", role: "status" });
    const write = (/** @type {Element} */ place, /** @type {string} */ text) => {
        if (place.textContent !== text) fill(place, text);
    };
    return {
        content: [player.video, problem, state, play],
        update() {
            const { fault, isRenewing, isPlaying, hasEnded } = player;
            write(problem, fault ? (fault === "unplayable" ? texts.unplayable : guest.texts.refusals[faultOf(fault)]) : "");
            write(state, isRenewing ? texts.renewing : "");
            write(play, fault ? guest.texts.tryAgain : isPlaying ? texts.pause : hasEnded ? texts.again : texts.play);
            // What to do next.
            play.className = hasEnded ? "" : "main";
            next.className = hasEnded ? "main" : "";
        },
    };
}

/** What there is instead of a video. @param {import("../guest.js").Guest} guest @param {string} kind @param {string} [written] */
function without(guest, kind, written) {
    const texts = guest.texts.question;
    if (kind === "written") return [element("h2", {}, texts.written), element("p", { class: "written", dir: "auto" }, written)];
    if (kind === "none") return [element("p", { class: "note" }, texts.none)];
    const problem = element("p", { class: "problem", role: "alert" });
    const again = button(guest.texts.tryAgain, async () => {
        fill(problem);
        await guest.load();
        guest.render();
        const { fault } = guest.model;
        fill(problem, fault && guest.texts.refusals[fault]);
    });
    return [element("p", { class: "note" }, texts.converting), problem, again];
}

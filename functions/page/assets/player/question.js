// A question with its answer, as large as the window lets it be.

import { button, element, fill } from "../dom.js";
import { filled } from "../language.js";
import { faultOf } from "./film.js";

/** How fast films can be played. */
const RATES = [1, 1.25, 1.5, 2];
/** How far a press winds a film, in seconds. */
const SKIP = 10;

/**
 * @typedef {import("./playback.js").Asked} Asked
 *
 * @typedef {object} Surroundings what the page has around a question
 * @property {number} number that of the question, from 1
 * @property {HTMLButtonElement[]} steps the buttons that lead elsewhere
 * @property {HTMLButtonElement} next that of them which leads on
 * @property {() => Promise<"offline" | "busy" | null>} reload reads the question again, which may show something else then. Returns what has kept it from that
 *
 * @typedef {object} ShownQuestion
 * @property {HTMLElement} whole
 * @property {() => void} update called when a player shows something else
 */

/**
 * Shows a question and its answer. `texts` are those of the page, with a section `player`.
 * @param {Asked} asked
 * @param {import("./playback.js").Playback} playback
 * @param {import("../language.js").Texts} texts
 * @param {Surroundings} around
 * @returns {ShownQuestion}
 */
export function showAsked(asked, playback, texts, around) {
    const { number, steps } = around;
    const { question } = playback;
    question?.video.setAttribute("aria-label", filled(texts.player.film, { n: number }));
    const given = answerOf(asked, playback, texts, around);
    const text = element("p", { class: "asked", dir: "auto" }, asked.text);
    const box = element("div", { class: "box", tabindex: 0, role: "region", "aria-label": filled(texts.player.question, { n: number }) }, question?.video, text);
    return {
        whole: element("div", { class: "watching" },
            box,
            element("div", { class: "frame" }, given.shown),
            element("div", { class: "controls" }, given.controls, element("div", { class: "steps" }, steps))),
        update: given.update,
    };
}

/** Shows the list of questions over the page, at the question that is shown. @param {HTMLDialogElement} dialog */
export function openList(dialog) {
    dialog.showModal();
    /** @type {HTMLElement | null} */ (dialog.querySelector("[aria-current]"))?.focus();
}

/**
 * @typedef {object} ShownAnswer
 * @property {import("../dom.js").Child} shown
 * @property {import("../dom.js").Child} [controls]
 * @property {() => void} update
 */

/** @param {Asked} asked @param {import("./playback.js").Playback} playback @param {import("../language.js").Texts} texts @param {Surroundings} around @returns {ShownAnswer} */
function answerOf({ answer }, playback, texts, around) {
    if (playback.answer) return recorded(playback, playback.answer, texts, around);
    around.next.className = "main";
    const update = () => {};
    if (answer.kind === "written") {
        const text = element("p", { class: "written", dir: "auto", tabindex: 0 }, answer.text);
        return { shown: [element("h2", {}, texts.player.written), text], update };
    }
    if (answer.kind === "none") return { shown: element("p", { class: "note" }, texts.player[answer.reason ?? "none"]), update };
    const problem = element("p", { class: "problem", role: "alert" });
    const again = button(texts.tryAgain, async () => {
        fill(problem);
        const fault = await around.reload();
        fill(problem, fault && texts.refusals[fault]);
    });
    return { shown: [element("p", { class: "note" }, texts.player.converting), problem], controls: again, update };
}

/**
 * A recorded answer with a button that plays it, and what keeps it from playing.
 * @param {import("./playback.js").Playback} playback
 * @param {import("./film.js").FilmPlayer} player
 * @param {import("../language.js").Texts} texts
 * @param {Surroundings} around
 * @returns {ShownAnswer}
 */
function recorded(playback, player, texts, { number, next }) {
    player.video.setAttribute("aria-label", filled(texts.player.video, { n: number }));
    const play = button("", () => player.toggle());
    const skip = (/** @type {string} */ sign, /** @type {number} */ seconds) => button(`${sign}${filled(texts.seconds, { n: SKIP })}`, () => player.skip(seconds));
    const speed = speedChoice(playback, texts);
    const problem = element("p", { class: "problem", role: "alert" });
    const state = element("p", { class: "hint state", role: "status" });
    const write = (/** @type {Element} */ place, /** @type {string} */ text) => {
        if (place.textContent !== text) fill(place, text);
    };
    return {
        shown: [player.video, problem, state],
        controls: element("div", { class: "playing" }, play, skip("−", -SKIP), skip("+", SKIP), speed.whole),
        update() {
            const { fault, isRenewing, isPlaying, hasEnded } = player;
            write(problem, fault ? (fault === "unplayable" ? texts.player.unplayable : texts.refusals[faultOf(fault)]) : "");
            write(state, isRenewing ? texts.player.renewing : "");
            write(play, fault ? texts.tryAgain : isPlaying ? texts.player.pause : hasEnded ? texts.player.again : texts.player.play);
            speed.update();
            // The buttons that lead on.
            play.className = hasEnded ? "" : "main";
            next.className = hasEnded ? "main" : "";
        },
    };
}

/** The choice of how fast films play. @param {import("./playback.js").Playback} playback @param {import("../language.js").Texts} texts */
function speedChoice(playback, texts) {
    const option = (/** @type {number} */ rate) =>
        element("option", { value: rate }, `${rate.toLocaleString(document.documentElement.lang)}×`);
    const select = element("select", { onchange: () => playback.setSpeed(Number(select.value)) }, RATES.map(option));
    return {
        whole: element("label", { class: "speed" }, element("span", { class: "hidden" }, texts.player.speed), select),
        update() {
            const { rate } = playback.speed;
            // One that the browser's own controls offer.
            if (!RATES.includes(rate) && select.value !== String(rate)) fill(select, [...RATES, rate].map(option));
            select.value = String(rate);
        },
    };
}

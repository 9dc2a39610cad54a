// Which screen a guest sees: a pure function of what the page knows.

import { filmOf } from "../player/film.js";

/**
 * @typedef {object} Video
 * @property {{ mp4?: string | null }} streams
 * @property {string | null} thumb
 * @property {{ width: number, height: number } | null} dimensions
 * @property {import("../captions.js").Captions[]} [captions]
 *
 * @typedef {Video & { text: string, seconds: number | null }} Answer what was written, or a recording and an empty text
 *
 * @typedef {object} Review the response of `review/`
 * @property {{ name: string, logo: string | null }} company
 * @property {{ name: string }} project
 * @property {{ first_name: string, last_name: string } | null} candidate null if their name is hidden
 * @property {string | null} ended_at
 * @property {string} expires_at
 * @property {{ text: string, video: Video | null, answer: Answer | null }[]} questions
 *
 * @typedef {object} Ended the refusal of the key; the company and its contact only if it was that of a link
 * @property {string} [code]
 * @property {{ name: string, logo: string | null }} [company]
 * @property {import("../types.js").Contact} [contact]
 *
 * @typedef {object} Model what the page knows
 * @property {boolean} isWhole whether the address has a key
 * @property {Ended | null} ended why the service has refused the key
 * @property {"offline" | "busy" | null} fault why the answers could not be read
 * @property {Review | null} review
 * @property {number} place 0 for the welcome, then each question, then the end
 *
 * @typedef {"wrong" | "expired" | "withdrawn" | "resting" | "gone" | "ended" | "offline" | "busy"} OverReason
 *
 * @typedef {object} Screen
 * @property {"welcome" | "question" | "end" | "over"} name
 * @property {OverReason} [reason]
 * @property {number} number that of the question, from 1
 * @property {number} last the place of the end
 */

/** The place that an address names. @param {string} hash @param {Review | null} review */
export function placeIn(hash, review) {
    const place = Number(hash.slice(1));
    return Number.isInteger(place) && place > 0 && place <= (review?.questions.length ?? 0) + 1 ? place : 0;
}

/** Why a link shows nothing. @type {Record<string, OverReason>} */
const ENDS = { link_expired: "expired", link_withdrawn: "withdrawn", link_resting: "resting", candidate_gone: "gone" };

/** The screen for a state. @param {Model} model @returns {Screen} */
export function screenOf({ isWhole, ended, fault, review, place }) {
    const last = (review?.questions.length ?? 0) + 1;
    const screen = { number: place, last };
    if (!isWhole) return { ...screen, name: "over", reason: "wrong" };
    if (ended) return { ...screen, name: "over", reason: ENDS[ended.code ?? ""] ?? "ended" };
    if (!review) return { ...screen, name: "over", reason: fault ?? "busy" };
    if (place === 0) return { ...screen, name: "welcome" };
    return { ...screen, name: place === last ? "end" : "question" };
}

/**
 * A question with its answer, as the player shows it. An answer whose recording could not be converted is none.
 * @param {Review} review
 * @param {number} number
 * @returns {import("../player/playback.js").Asked}
 */
export function askedIn({ questions }, number) {
    const { text, video, answer } = questions[number - 1];
    return { text, film: filmOf(video), answer: givenOf(answer) };
}

/** @param {Answer | null} answer @returns {import("../player/playback.js").Given} */
function givenOf(answer) {
    if (!answer) return { kind: "none" };
    if (answer.text) return { kind: "written", text: answer.text };
    const film = filmOf(answer);
    return film ? { kind: "recorded", film } : { kind: "converting" };
}

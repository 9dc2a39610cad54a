// Takes: begun at the service, recorded or chosen as a file here.

import { answerTo, questionOf } from "./state.js";

/** The most bytes of a take: per second of its time, and in addition. The service has the same limits. */
const BYTES_PER_SECOND = 2_000_000;
const SPARE_BYTES = 32_000_000;
/** How much of a file is read at once. */
const PIECE_BYTES = 4 * 1024 * 1024;

/**
 * Begins a take. Its time counts from now on.
 * @param {import("./main.js").App} app
 * @param {string} question
 */
export async function beginTake(app, question) {
    const { model, queue } = app;
    const uri = answerTo(model, question)?.resource_uri;
    if (!uri || !queue) return;
    const { body } = await app.api.send("POST", `${uri}takes/`);
    app.begun += 1;
    const [asked, answer] = [questionOf(model, question), answerTo(model, question)];
    // Questions with time to prepare are told only now.
    if (asked) asked.text = body.question.text;
    if (answer) {
        answer.takes_left = Math.max(answer.takes_left - 1, 0);
        answer.open_take = body;
    }
    await queue.begin(body, question, app.devices.types[0] ?? "", "recorder");
}

/** A time with the candidate's adjustments. @param {import("./main.js").App} app @param {number} seconds */
export const adjustedSeconds = (app, seconds) => Math.round(seconds * (app.model.candidate?.adjustments?.time_factor ?? 1));

/** The most bytes of a file for a question. @param {import("./types.js").Question} question */
export const maxBytes = (question) => BYTES_PER_SECOND * question.answer_seconds + SPARE_BYTES;

/**
 * Answers a question with a file: of the take that is open, or of a new one.
 * @param {import("./main.js").App} app
 * @param {string} question
 * @param {File} file
 */
export async function answerWithFile(app, question, file) {
    const { queue } = app;
    if (!queue) return;
    if (!queue.of(question) || queue.of(question)?.record.isEnded) await beginTake(app, question);
    // Of the queue: it knows a take that the service has closed meanwhile, and says why a file is refused.
    const take = queue.of(question);
    if (!take) return;
    const { uri } = take.record;
    await queue.change(take, { contentType: file.type, source: "file" });
    const seconds = await lengthOf(file);
    for (let from = 0; from < file.size; from += PIECE_BYTES) {
        // As long as a part: each piece becomes one.
        await queue.add(uri, file.slice(from, from + PIECE_BYTES), 60_000);
    }
    await queue.end(uri, seconds);
}

/** The length of a video in seconds; 0 if this browser cannot tell. @param {Blob} file @returns {Promise<number>} */
function lengthOf(file) {
    const video = document.createElement("video");
    return new Promise((done) => {
        const end = (/** @type {number} */ seconds) => {
            URL.revokeObjectURL(video.src);
            done(Number.isFinite(seconds) ? seconds : 0);
        };
        video.onloadedmetadata = () => end(video.duration);
        video.onerror = () => end(0);
        video.preload = "metadata";
        video.src = URL.createObjectURL(file);
    });
}

// Takes: begun at the service, recorded or chosen as a file here.

import { ApiError } from "./api.js";
import { answerTo, questionOf } from "./state.js";

/** The most bytes of a take: per second of its time, and in addition. The service has the same limits. */
const BYTES_PER_SECOND = 2_000_000;
const SPARE_BYTES = 32_000_000;
/** How much of a file is read at once. */
const PIECE_BYTES = 4 * 1024 * 1024;
/** How long a new take waits for the former one to be sent, which it would cut off, in milliseconds. */
const SENDING = 10_000;
/** How long the service gives a take back of which nothing was recorded, in milliseconds. */
const WITHDRAWAL = 60_000;

/**
 * Begins a take. Its time counts from now on. One that begins when the candidate no longer wants it is given back. Returns
 * whether it has begun.
 * @param {import("./main.js").App} app
 * @param {string} question
 * @param {() => boolean} isWanted
 * @param {File} [file] what it consists of, in place of a recording
 */
export async function beginTake(app, question, isWanted, file) {
    const { model, queue } = app;
    const uri = answerTo(model, question)?.resource_uri;
    if (!uri || !queue) return false;
    await settleFormer(app, question);
    if (!isWanted()) return false;
    const { body } = await app.api.send("POST", `${uri}takes/`);
    app.begun += 1;
    if (!isWanted()) {
        await giveUp(app, body.resource_uri, WITHDRAWAL).catch(() => undefined);
        await app.refresh();
        return false;
    }
    const [asked, answer] = [questionOf(model, question), answerTo(model, question)];
    // Questions with time to prepare are told only now.
    if (asked) Object.assign(asked, { text: body.question.text, video: body.question.video });
    if (answer) {
        answer.takes_left = Math.max(answer.takes_left - 1, 0);
        answer.open_take = body;
    }
    await queue.begin(body, question, file?.type ?? app.devices.types[0] ?? "", file ? "file" : "recorder");
    return true;
}

/** Gives up a recording that the candidate did not want, and waits a while for one that is being sent. @param {import("./main.js").App} app @param {string} question */
async function settleFormer(app, question) {
    const { queue } = app;
    const former = queue?.of(question);
    if (!queue || !former) return;
    const { uri, isStopped, isEnded, refusal } = former.record;
    if (isStopped && !isEnded) await giveUp(app, uri);
    if (!isEnded || refusal) return;
    await new Promise((done) => {
        const timer = setTimeout(end, SENDING);
        queue.addEventListener("change", look);
        function look() {
            if (!queue?.isSending(question)) end();
        }
        function end() {
            clearTimeout(timer);
            queue?.removeEventListener("change", look);
            done(undefined);
        }
        look();
    });
}

/**
 * Gives back a take of which nothing was recorded. The candidate need not wait for the service.
 * @param {import("./main.js").App} app
 * @param {import("./queue.js").TakeRecord} take
 */
export async function withdraw(app, { uri, question }) {
    await app.queue?.forget(uri);
    const answer = answerTo(app.model, question);
    if (answer) Object.assign(answer, { takes_left: answer.takes_left + 1, open_take: null });
    app.go("question", question);
    await giveUp(app, uri, WITHDRAWAL).catch(() => undefined);
    await app.refresh();
}

/**
 * Gives a take up, which leaves an earlier answer as it is. The service gives it back if nothing could be recorded yet.
 * @param {import("./main.js").App} app
 * @param {string} take
 * @param {number} [patience]
 */
export async function giveUp(app, take, patience) {
    try {
        await app.api.send("PATCH", take, { parts: 0 }, { patience });
    } catch (error) {
        // It is closed already, perhaps by an attempt whose answer was lost.
        if (!(error instanceof ApiError) || error.isTransient || error.isAboutAccess) throw error;
    }
    await app.queue?.forget(take);
}

/** A time with the candidate's adjustments. @param {import("./main.js").App} app @param {number} seconds */
export const adjustedSeconds = (app, seconds) => Math.round(seconds * (app.model.candidate?.adjustments?.time_factor ?? 1));

/** The most parts of a take. The service has the same limit. @param {import("./main.js").App} app @param {import("./types.js").Question} question */
export const mostParts = (app, question) => Math.min(Math.floor(adjustedSeconds(app, question.answer_seconds) / 2) + 50, 1000);

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
    const open = queue.of(question);
    // What was recorded of another take is not continued with a file.
    if (!open || open.record.isEnded || open.slices.length > 0) await beginTake(app, question, () => true, file);
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

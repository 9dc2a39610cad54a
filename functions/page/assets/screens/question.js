// A question before its answer: what it asks, how long the answer may be, and the ways to answer.

import { ApiError } from "../api.js";
import { button, element } from "../dom.js";
import { duration, filled } from "../language.js";
import { answerState, answerTo, questionOf } from "../state.js";
import { adjustedSeconds, answerWithFile, maxBytes, mostParts } from "../takes.js";
import { videoOf } from "./video.js";

// Browsers take the type from the ending of the name, which a video may lack, or which a device does not know. So a type tells
// a picture or a document that was chosen by mistake; everything else is judged by the service, by its bytes.
const OTHER_TYPES = /^(image\/|text\/plain|application\/(pdf|msword|vnd\.(oasis|openxmlformats)))/;

/** Fewer attempts than these are shown even if the company has set no limit: the service has one. */
const FEW = 4;

/** The title of a question. @param {import("../main.js").App} app @param {string} uri */
export function titleOf(app, uri) {
    const { questions } = app.model;
    const n = questions.findIndex((question) => question.resource_uri === uri) + 1;
    return filled(app.texts.overview.question, { n, total: questions.length });
}

/** @param {import("../main.js").App} app @param {import("../state.js").Screen} screen @returns {import("../main.js").View} */
export function showQuestion(app, { question: uri = "" }) {
    const { model } = app;
    const texts = app.texts.question;
    const question = /** @type {import("../types.js").Question} */ (questionOf(model, uri));
    const answer = answerTo(model, uri);
    const isHidden = question.text === null;
    const isVideo = question.kind === "video";
    const problem = element("p", { class: "problem", role: "alert" }, app.takeNotice());
    const files = fileChooser(app, question, problem);
    const begin = () => app.go("connect", uri);

    async function record() {
        problem.textContent = "";
        if (await app.turnOn(problem)) begin();
        else if (!isHidden) showFiles();
    }

    function showFiles() {
        const hadFocus = instead.contains(document.activeElement);
        files.hidden = false;
        instead.hidden = true;
        if (hadFocus) files.querySelector("input")?.focus();
    }

    async function keepArrived() {
        const take = answer?.open_take;
        if (!take) return;
        const { body } = await app.api.send("PATCH", take.resource_uri, { parts: null });
        const hasArrived = body.missing_parts.length === 0;
        if (!hasArrived) problem.textContent = texts.nothingArrived;
        const followed = app.follow();
        await (hasArrived ? app.goAfter(followed, "overview") : followed);
    }

    const mayWrite = !isVideo || model.candidate?.adjustments?.may_write;
    const isElsewhere = answerState(model, uri) === "elsewhere";
    const open = isElsewhere ? answer?.open_take : null;
    const isRunning = () => open !== null && open !== undefined && app.api.now() < Date.parse(open.record_until);
    const clock = element("p", { class: "countdown", role: "timer" });
    const keep = button(texts.keepArrived, () => app.attempt(keepArrived), { hidden: true });
    const arrived = element("p", { class: "hint", role: "status" });
    if (open) offerToKeep(app, question, open, keep, arrived);
    const left = answer?.takes_left ?? 0;
    // The next take closes an open one, which may be given back then.
    const canBegin = isVideo && (left > 0 || isElsewhere);
    // Without a limit of the company, that of the service matters only at its end.
    const isCounted = question.takes !== null || left < FEW;
    const refusal = app.queue?.of(uri)?.record.refusal;
    const { canRecord } = app.devices;
    const [preparation, time] = [question.preparation_seconds ?? 0, question.answer_seconds].map((seconds) => adjustedSeconds(app, seconds));
    // A question that is not known yet is shown first, which begins its time, with the camera off.
    const instead = element("div", { hidden: !canBegin || !(canRecord || isHidden) },
        button(!isHidden ? texts.file : canRecord ? texts.showOnly : texts.show, isHidden ? begin : showFiles, { class: canRecord ? "" : "main" }),
        isHidden && element("p", { class: "hint" }, filled(texts.fileTime, { time: duration(app.texts, preparation + time) })));
    files.hidden = canRecord || isHidden || !canBegin;
    const ending = element("p", { class: "note", hidden: true });
    return {
        title: titleOf(app, uri),
        content: [
            element("p", { class: isHidden ? "hint" : "asked", dir: "auto" }, question.text ?? app.texts.overview.hidden),
            question.video && !isHidden && videoOf(app, question.video, texts.video),
            refusal && element("p", { class: "problem" }, app.texts.refusals[refusal] ?? app.texts.refusals.other),
            isElsewhere && element("p", { class: "note" }, isRunning() ? texts.running : texts.elsewhere),
            isElsewhere && [clock, arrived, keep],
            isVideo && [
                question.preparation_seconds !== null && element("p", {}, filled(texts.prepare, { time: duration(app.texts, preparation) })),
                element("p", {}, filled(texts.answer, { time: duration(app.texts, time) })), ending,
                answer?.unanswerable
                    ? [element("p", { class: "note" }, unanswerableText(app)), app.help.opener()]
                    : left === 0 ? !isElsewhere && [element("p", {}, texts.noTakes), app.help.opener()]
                        : isCounted && element("p", {}, filled(texts.takesLeft, { n: left })),
                canBegin && element("p", { class: "hint" }, texts.hint),
            ],
            problem,
            canBegin && canRecord && button(isHidden ? texts.show : texts.record, record, { class: "main" }),
            instead, files,
            mayWrite && button(texts.write, () => app.go("write", uri), { class: isVideo ? "" : "main" }),
            isVideo && canRecord && button(app.texts.check.title, () => app.go("check"), { class: "link" }),
            button(app.texts.back, () => app.go("overview"), { class: "link" }),
        ],
        update() {
            clock.hidden = !isRunning();
            if (open && isRunning()) clock.textContent = filled(app.texts.record.left, { time: duration(app.texts, (Date.parse(open.record_until) - app.api.now()) / 1000) });
            const ends = app.secondsLeft();
            ending.hidden = !canBegin || ends === null || ends > preparation + time;
            ending.textContent = ending.hidden ? "" : filled(texts.ending, { time: duration(app.texts, ends ?? 0) });
        },
    };
}

/**
 * Offers to keep what has arrived of a take that this browser knows nothing of, if something has.
 * @param {import("../main.js").App} app
 * @param {import("../types.js").Question} question
 * @param {import("../types.js").Take} take
 * @param {HTMLElement} offer
 * @param {HTMLElement} note where to say that nothing has
 */
async function offerToKeep(app, question, take, offer, note) {
    try {
        // Asks for more parts than any recording has: the response lists the missing ones, and nothing changes.
        const parts = mostParts(app, question);
        const { body } = await app.api.send("PATCH", take.resource_uri, { parts });
        offer.hidden = body.missing_parts.includes(1);
        note.textContent = offer.hidden ? app.texts.question.nothingArrived : "";
    } catch (error) {
        if (!(error instanceof ApiError)) throw error;
    }
}

/** Why a question is left without an answer, and what to do. @param {import("../main.js").App} app */
export const unanswerableText = (app) => filled(app.texts.overview.unanswerable, { company: app.model.candidate?.company.name });

/**
 * The way to answer with a file, in place of a recording by the page.
 * @param {import("../main.js").App} app
 * @param {import("../types.js").Question} question
 * @param {Element} problem
 */
export function fileChooser(app, question, problem) {
    const texts = app.texts.question;
    const limit = maxBytes(question);
    const size = Math.floor(limit / 1_000_000);
    const time = duration(app.texts, adjustedSeconds(app, question.answer_seconds));
    const choose = async (/** @type {Event} */ event) => {
        const input = /** @type {HTMLInputElement} */ (event.target);
        const file = input.files?.[0];
        if (!file) return;
        input.value = "";
        const isMistake = file.size === 0 || OTHER_TYPES.test(file.type);
        problem.textContent = isMistake ? texts.fileEmpty : file.size > limit ? filled(texts.fileTooLarge, { size }) : "";
        if (problem.textContent) return;
        const here = app.view;
        app.recorded = file;
        await app.attempt(async () => {
            try {
                await answerWithFile(app, question.resource_uri, file);
            } catch (error) {
                if (error instanceof ApiError) throw error;
                // The file was moved or changed while it was read.
                problem.textContent = texts.fileEmpty;
                return;
            }
            app.notice = app.texts.review.file;
            if (app.view === here) app.go("review", question.resource_uri);
        });
    };
    return element("div", { class: "files" },
        element("label", { class: "field" }, texts.file,
            element("input", { type: "file", accept: "video/*", capture: "user", onchange: choose })),
        element("p", { class: "hint" }, filled(texts.fileHint, { time, size })));
}

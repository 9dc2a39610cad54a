// The time to prepare, and the recording itself.

import { announce, button, element, fill } from "../dom.js";
import { duration, filled } from "../language.js";
import { Recording } from "../recorder.js";
import { questionOf } from "../state.js";
import { adjustedSeconds } from "../takes.js";
import { deviceProblem } from "./check.js";
import { fileChooser } from "./question.js";
import { videoOf } from "./video.js";

/** When the time left is announced, in seconds. */
const ANNOUNCED = [60, 30, 10];

/** Announces the time left, once at each of these moments. @param {import("../main.js").App} app */
function announcer(app) {
    let last = Infinity;
    return (/** @type {number} */ left) => {
        const passed = ANNOUNCED.find((moment) => left <= moment && last > moment);
        last = left;
        if (passed !== undefined) announce(filled(app.texts.announce.left, { n: passed }));
    };
}

/** @param {import("../main.js").App} app @param {import("../state.js").Screen} screen @returns {import("../main.js").View} */
export function showPrepare(app, { question: uri = "" }) {
    const texts = app.texts.prepare;
    const question = questionOf(app.model, uri);
    const take = app.queue?.of(uri);
    if (!question || !take) return { title: texts.title, content: [] };
    const problem = element("p", { class: "problem", role: "alert" });
    const left = element("p", { class: "countdown" });
    const stage = element("div", { class: "stage" });
    const files = fileChooser(app, question, problem);
    files.hidden = app.devices.isOpen;
    const tell = announcer(app);

    async function open() {
        try {
            await app.devices.open();
        } catch (error) {
            problem.textContent = deviceProblem(app, error);
            return;
        }
        files.hidden = true;
        show();
    }

    function show() {
        if (!app.devices.canRecord) return;
        fill(stage, app.devices.isOpen
            ? [app.devices.preview(app.texts.check.preview), button(texts.now, () => app.go("record", uri), { class: "main" })]
            : [element("p", { class: "note" }, texts.noDevices), button(app.texts.check.open, open, { class: "main" })]);
    }

    show();
    // The clock of the service is known to a second, and nobody is shown more time than was promised.
    const preparation = adjustedSeconds(app, question.preparation_seconds ?? 0);
    return {
        title: texts.title,
        content: [
            element("p", { class: "asked" }, question.text), question.video && videoOf(app, question.video, app.texts.question.video),
            left, problem, stage, files,
        ],
        update() {
            const [from, until] = [take.record.recordFrom, take.record.recordUntil].map((time) => (Date.parse(time) - app.api.now()) / 1000);
            left.textContent = from > 0
                ? filled(texts.left, { time: duration(app.texts, Math.min(from, preparation)) })
                : filled(app.texts.record.left, { time: duration(app.texts, until) });
            tell(from);
            if (until <= 0) {
                // Nothing was recorded in time. The take is used up, unless another is left.
                app.queue?.forget(take.record.uri).then(() => app.go("question", uri));
                return;
            }
            if (from <= 0 && app.devices.isOpen && app.model.step.name === "prepare") app.go("record", uri);
        },
    };
}

/** @param {import("../main.js").App} app @param {import("../state.js").Screen} screen @returns {import("../main.js").View} */
export function showRecord(app, { question: uri = "" }) {
    const texts = app.texts.record;
    const { queue } = app;
    const { stream, types } = app.devices;
    const question = questionOf(app.model, uri);
    const take = queue?.of(uri);
    if (!queue || !take || !stream || !question) {
        // The devices have gone meanwhile.
        queueMicrotask(() => app.go("prepare", uri));
        return { title: texts.title, content: [] };
    }
    const { record } = take;
    const [from, until] = [record.recordFrom, record.recordUntil].map((time) => Date.parse(time));
    // Candidates who begin before the time to prepare is over have no more time to answer.
    const limit = Math.min(until - from, until - app.api.now()) / 1000;
    /** @type {Blob[]} */
    const slices = [];
    /** @type {Promise<void>[]} */
    const kept = [];
    const recording = new Recording(stream, types[0] ?? "", (slice, milliseconds) => {
        slices.push(slice);
        kept.push(queue.add(record.uri, slice, milliseconds));
    });
    announce(texts.started);
    const left = element("p", { class: "countdown" });
    const unsaved = element("p", { class: "problem", role: "alert" });
    const tell = announcer(app);

    recording.ended.then(async (reason) => {
        announce(texts.stopped);
        await Promise.all(kept);
        const isEmpty = slices.length === 0;
        // Interrupted recordings stay open: the candidate decides whether to keep them.
        if (reason === "stopped" || isEmpty) await queue.end(record.uri, recording.seconds);
        const { review } = app.texts;
        if (isEmpty) {
            app.devices.nextType();
            app.notice = review.nothing;
            app.go("question", uri);
            return;
        }
        app.recorded = new Blob(slices, { type: types[0] });
        app.notice = reason === "stopped" ? "" : reason === "device" ? review.device : review.failed;
        app.go("review", uri);
        app.refresh();
    });
    return {
        title: texts.title,
        content: [
            element("p", { class: "asked" }, question.text),
            app.devices.preview(app.texts.check.preview), left, unsaved,
            button(texts.stop, () => recording.stop(), { class: "main recording" }),
        ],
        update() {
            const rest = limit - recording.seconds;
            left.textContent = filled(texts.left, { time: duration(app.texts, rest) });
            if (!queue.store.isDurable) unsaved.textContent = texts.unsaved;
            tell(rest);
            if (rest <= 0) recording.stop();
        },
    };
}

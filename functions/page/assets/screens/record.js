// The time to prepare, and the recording itself.

import { announce, button, element } from "../dom.js";
import { duration, filled } from "../language.js";
import { Recording } from "../recorder.js";
import { answerTo, questionOf } from "../state.js";
import { withdraw } from "../takes.js";
import { fileChooser, titleOf } from "./question.js";
import { Stage, answerTime, inSight, timeTeller } from "./stage.js";
import { videoOf } from "./video.js";

/** How much later than the service a recording may begin and still have all of its time, in milliseconds: the page counts down. */
const COUNTED = 5000;

/** @param {import("../main.js").App} app @param {import("../state.js").Screen} screen @returns {import("../main.js").View} */
export function showPrepare(app, { question: uri = "" }) {
    const texts = app.texts.prepare;
    const question = questionOf(app.model, uri);
    const take = app.queue?.of(uri);
    if (!question || !take) return { title: texts.title, content: [] };
    const { record } = take;
    const [begun, from, until] = [record.begunAt, record.recordFrom, record.recordUntil].map((time) => Date.parse(time));
    /** The camera, once it is on: without it, nothing is going to be recorded. @type {Stage | null} */
    let stage = null;
    const beginsIn = (/** @type {number} */ seconds) => filled(texts.left, { time: duration(app.texts, seconds) });
    let tell = timeTeller(answerTime(app));
    let isCounted = false;

    const problem = element("p", { class: "problem", role: "alert" });
    const open = async () => {
        if (!(await app.turnOn(problem))) return;
        show();
        app.render();
    };
    const withoutCamera = element("div", {}, problem, fileChooser(app, question, problem),
        app.devices.canRecord && [element("p", { class: "hint" }, texts.noDevices), button(app.texts.check.open, open)]);
    const left = element("p", { class: "countdown" });
    const controls = element("div", { class: "controls" }, left);
    const film = question.video && videoOf(app, question.video, app.texts.question.video, true);

    function show() {
        const hadFocus = withoutCamera.contains(document.activeElement);
        withoutCamera.hidden = app.devices.isOpen;
        if (!app.devices.isOpen) return;
        stage = new Stage(app);
        tell = timeTeller(beginsIn);
        const now = button(texts.now, () => app.go("record", uri), { class: "main" });
        controls.before(stage.picture);
        controls.append(now);
        if (hadFocus) now.focus();
    }

    const asked = [element("p", { class: "asked", dir: "auto" }, question.text), withoutCamera];
    const whole = inSight(titleOf(app, uri), asked, controls);
    whole.classList.add("preparing");
    if (film) whole.prepend(film);
    document.body.classList.add("recording");
    show();
    return {
        title: texts.title,
        content: [whole],
        update() {
            const now = app.api.now();
            const [rest, end] = [(from - now) / 1000, (until - now) / 1000];
            // The clock of the service is known to a second, and nobody is shown more time than was promised.
            left.textContent = stage && rest > 0
                ? beginsIn(Math.min(rest, (from - begun) / 1000))
                : filled(app.texts.record.left, { time: duration(app.texts, end) });
            tell(stage ? rest : end);
            stage?.update();
            const isClose = stage !== null && rest > 0 && rest <= 3;
            isCounted ||= isClose;
            stage?.show(isClose ? String(Math.ceil(rest)) : "", "number");
            // A second later, so that the service knows that it is over.
            if (end <= -1) {
                app.queue?.forget(record.uri).then(() => app.refresh()).then(() => app.go("question", uri));
            } else if (rest <= 0 && stage && app.model.step.name === "prepare") {
                app.go("record", uri, isCounted);
            }
        },
        leave() {
            stage?.end();
            document.body.classList.remove("recording");
        },
    };
}

/** @param {import("../main.js").App} app @param {import("../state.js").Screen} screen @returns {import("../main.js").View} */
export function showRecord(app, { question: uri = "", isCounted }) {
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
    const unsaved = element("p", { class: "problem", role: "alert" });
    const tell = timeTeller(answerTime(app));
    const stage = new Stage(app);
    /** @type {Recording | null} */
    let recording = null;
    let limit = 0;

    async function cancel() {
        if (question?.preparation_seconds && app.api.now() < until) {
            app.go("prepare", uri);
            return;
        }
        await withdraw(app, record);
    }

    function start() {
        // Candidates who begin before the time to prepare is over have no more time to answer.
        limit = Math.min(until - from, until + COUNTED - app.api.now()) / 1000;
        /** @type {Blob[]} */
        const slices = [];
        /** @type {Promise<void>[]} */
        const kept = [];
        const begun = new Recording(/** @type {MediaStream} */ (stream), types[0] ?? "", (slice, milliseconds) => {
            slices.push(slice);
            kept.push(/** @type {import("../queue.js").Queue} */ (queue).add(record.uri, slice, milliseconds));
        });
        recording = begun;
        stage.show(texts.mark, "recording");
        stage.record(texts.stop, () => begun.stop(), "main recording");
        announce(texts.started);
        view.update?.();
        begun.ended.then(async (reason) => {
            announce(texts.stopped);
            await Promise.all(kept);
            // The company has cancelled the interview, which nothing of this belongs to any more.
            if (app.view !== view) return;
            await conclude(reason, new Blob(slices, { type: types[0] }));
        });
    }

    /** @param {import("../recorder.js").EndReason} reason @param {Blob} recorded */
    async function conclude(reason, recorded) {
        const { review } = app.texts;
        const seconds = recording?.seconds ?? 0;
        const isEmpty = recorded.size === 0;
        // Where there is an answer already, the candidate decides between the two. Interrupted recordings stay open as well.
        const isDecided = reason === "stopped" && !answerTo(app.model, uri)?.take;
        if (isEmpty) {
            app.devices.nextType();
            app.notice = review.nothing;
            await withdraw(app, record);
            return;
        }
        if (isDecided) await queue?.end(record.uri, seconds);
        else if (reason === "stopped") await queue?.stop(record.uri, seconds);
        app.recorded = recorded;
        app.notice = reason === "device" ? review.device : reason !== "stopped" ? review.failed : stage.hearing.wasSilent ? review.silent : "";
        app.go("review", uri);
        app.refresh();
    }

    /** @type {import("../main.js").View} */
    const view = {
        title: texts.title,
        content: [stage.whole(titleOf(app, uri), element("p", { class: "asked", dir: "auto" }, question.text), unsaved)],
        update() {
            stage.update();
            if (!recording) return;
            const rest = limit - recording.seconds;
            stage.left.textContent = filled(texts.left, { time: duration(app.texts, rest) });
            if (!queue.store.isDurable) unsaved.textContent = texts.unsaved;
            tell(rest);
            if (rest <= 0) recording.stop();
        },
        leave() {
            stage.end();
            recording?.stop();
        },
    };
    stage.record(app.texts.connect.cancel, cancel, "");
    if (isCounted) start();
    else stage.count(start);
    return view;
}

// A question that does not count. Its recordings never leave the page.

import { announce, button, element, fill } from "../dom.js";
import { duration, filled } from "../language.js";
import { Recording } from "../recorder.js";
import { isWritten } from "../state.js";
import { playback } from "./check.js";
import { Stage, answerTime, timeTeller } from "./stage.js";

/** The longest practice answer. */
const SECONDS = 60;

/** @param {import("../main.js").App} app @returns {import("../main.js").View} */
export function showPractice(app) {
    const texts = app.texts.practice;
    const { devices } = app;
    const isInWriting = isWritten(app.model);
    const asked = () => element("p", { class: "asked" }, texts.question);
    const place = element("div", { class: "stage" });
    /** @type {Recording | null} */
    let recording = null;
    /** @type {Stage | null} */
    let stage = null;
    let tell = timeTeller(answerTime(app));

    /** As a recording that counts: the candidate should know it from here. */
    function record() {
        const counting = new Stage(app);
        stage = counting;
        fill(place, counting.whole(texts.title, asked()));
        counting.record(app.texts.connect.cancel, () => {
            counting.end();
            show();
        }, "").focus();
        counting.count(() => void start(counting));
    }

    /** @param {Stage} shown */
    async function start(shown) {
        const { stream } = devices;
        if (!stream) return;
        /** @type {Blob[]} */
        const slices = [];
        recording = new Recording(stream, devices.types[0] ?? "", (slice) => slices.push(slice));
        tell = timeTeller(answerTime(app));
        shown.show(app.texts.record.mark, "recording");
        shown.record(app.texts.record.stop, () => recording?.stop(), "main recording");
        announce(app.texts.record.started);
        view.update?.();
        await recording.ended;
        recording = null;
        announce(app.texts.record.stopped);
        shown.end();
        const again = button(texts.again, record);
        const { wasSilent } = shown.hearing;
        fill(place, playback(new Blob(slices, { type: devices.types[0] }), texts.yourAnswer),
            wasSilent && element("p", { class: "note", role: "status" }, app.texts.review.silent), again);
        begin.className = "main";
        again.focus();
    }

    function show() {
        if (!devices.isOpen) return;
        fill(place, asked(), devices.preview(app.texts.check.preview), button(texts.record, record, { class: "main" }));
    }

    async function beginInterview() {
        const { candidate } = app.model;
        if (!candidate) return;
        await app.api.advance(candidate.resource_uri, "confirmed");
        await app.follow();
    }

    // Those who can practise should do that first: the time runs from the other button on.
    const begin = button(texts.begin, () => app.attempt(() => app.goAfter(beginInterview(), "overview")), { class: devices.isOpen ? "" : "main" });
    show();
    const limit = app.model.interview?.limit_seconds;
    const time = limit ? filled(texts.time, { time: duration(app.texts, limit) }) : texts.noTime;
    /** @type {import("../main.js").View} */
    const view = {
        title: devices.isOpen ? texts.title : texts.begin,
        content: [
            element("p", {}, devices.isOpen ? texts.intro : isInWriting ? texts.inWriting : texts.withoutCamera),
            place,
            element("p", { class: "note" }, time),
            begin,
            button(app.texts.back, () => app.go(isInWriting ? "welcome" : "check"), { class: "link" }),
        ],
        update() {
            stage?.update();
            if (!recording || !stage) return;
            const rest = SECONDS - recording.seconds;
            stage.left.textContent = filled(app.texts.record.left, { time: duration(app.texts, rest) });
            tell(rest);
            if (rest <= 0) recording.stop();
        },
        leave() {
            stage?.end();
            recording?.stop();
        },
    };
    return view;
}

// A question that does not count. Its recordings never leave the page.

import { announce, button, element, fill } from "../dom.js";
import { duration, filled } from "../language.js";
import { Recording } from "../recorder.js";
import { playback } from "./check.js";

/** The longest practice answer. */
const SECONDS = 60;

/** @param {import("../main.js").App} app @returns {import("../main.js").View} */
export function showPractice(app) {
    const texts = app.texts.practice;
    const { devices } = app;
    const stage = element("div", { class: "stage" });
    const left = element("p", { class: "countdown" });
    /** @type {Recording | null} */
    let recording = null;

    async function record() {
        const { stream } = devices;
        if (!stream) return;
        /** @type {Blob[]} */
        const slices = [];
        recording = new Recording(stream, devices.types[0] ?? "", (slice) => slices.push(slice));
        const stop = button(app.texts.record.stop, () => recording?.stop(), { class: "main recording" });
        fill(stage, devices.preview(app.texts.check.preview), left, stop);
        stop.focus();
        announce(app.texts.record.started);
        await recording.ended;
        recording = null;
        announce(app.texts.record.stopped);
        const again = button(texts.again, () => void record());
        fill(stage, playback(new Blob(slices, { type: devices.types[0] }), texts.yourAnswer), again);
        again.focus();
    }

    async function begin() {
        const { candidate } = app.model;
        if (!candidate) return;
        await app.api.advance(candidate.resource_uri, "confirmed");
        await app.follow();
        app.go("overview");
    }

    if (devices.isOpen) fill(stage, devices.preview(app.texts.check.preview), button(texts.record, () => void record()));
    const limit = app.model.interview?.limit_seconds;
    const time = limit ? filled(texts.time, { time: duration(app.texts, limit) }) : texts.noTime;
    return {
        title: devices.isOpen ? texts.title : texts.begin,
        content: [
            devices.isOpen && element("p", {}, texts.intro),
            devices.isOpen && element("p", { class: "asked" }, texts.question),
            stage,
            element("p", { class: "note" }, time),
            button(texts.begin, () => app.attempt(begin), { class: "main" }),
            button(app.texts.back, () => app.go("check"), { class: "link" }),
        ],
        update() {
            if (!recording) return;
            left.textContent = filled(app.texts.record.left, { time: duration(app.texts, SECONDS - recording.seconds) });
            if (recording.seconds >= SECONDS) recording.stop();
        },
        leave: () => recording?.stop(),
    };
}

// Camera and microphone, tested on this device only. Nothing is enforced: a candidate may answer with files.

import { announce, button, element, fill } from "../dom.js";
import { Hearing } from "../hearing.js";
import { Recording } from "../recorder.js";

/** The length of the test recording. */
const SECONDS = 5;

/** @param {import("../main.js").App} app @returns {import("../main.js").View} */
export function showCheck(app) {
    const texts = app.texts.check;
    const { devices } = app;
    const problem = element("p", { class: "problem", role: "alert" });
    const help = element("div", { hidden: devices.canRecord }, app.help.opener());
    const stage = element("div", { class: "stage" });
    /** @type {Hearing | null} */
    let hearing = null;
    const unheard = element("p", { class: "note", role: "status", hidden: true }, app.texts.stage.unheard);
    /** @type {Recording | null} */
    let recording = null;
    /** @type {HTMLButtonElement | null} */
    let works = null;

    // In an interview that has begun, the candidate returns to their questions.
    const next = () => app.go(app.model.interview?.status === "interviewing" ? "overview" : "practice");

    async function open() {
        problem.textContent = "";
        devices.close();
        help.hidden = true;
        if (await app.turnOn(problem)) await showPreview();
        else help.hidden = false;
    }

    async function showPreview() {
        hearing?.end();
        const level = element("meter", { min: 0, max: 1, value: 0, "aria-label": texts.level });
        hearing = new Hearing(devices.stream, (value) => (level.value = value));
        const test = element("div", { class: "test" });
        const record = button(texts.record, () => recordTest(test));
        works = button(texts.works, next, { class: "main" });
        fill(stage, devices.preview(texts.preview),
            element("p", {}, texts.speak), level, unheard, record, test,
            await chooser(texts.camera, "videoinput", "camera"), await chooser(texts.microphone, "audioinput", "microphone"),
            works);
        // The button that was pressed is gone.
        record.focus();
        const muted = devices.stream?.getAudioTracks().some((track) => track.muted);
        problem.textContent = muted ? app.texts.devices.muted : "";
    }

    /** @param {string} label @param {"videoinput" | "audioinput"} kind @param {"camera" | "microphone"} name */
    async function chooser(label, kind, name) {
        const found = await devices.list(kind);
        const chosen = devices.stream?.getTracks().find((track) => track.kind === kind.slice(0, 5))?.getSettings().deviceId;
        const options = found.map((device) => element("option", { value: device.deviceId, selected: device.deviceId === chosen }, device.label || label));
        const choose = (/** @type {Event} */ event) => {
            devices[name] = /** @type {HTMLSelectElement} */ (event.target).value;
            open();
        };
        return found.length > 1 && element("label", { class: "field" }, label, element("select", { onchange: choose }, options));
    }

    /** @param {Element} test */
    async function recordTest(test) {
        if (!devices.stream) return;
        fill(test, element("p", { role: "status" }, texts.recording));
        /** @type {Blob[]} */
        const slices = [];
        recording = new Recording(devices.stream, devices.types[0] ?? "", (slice) => slices.push(slice));
        const loud = hearing?.loud;
        setTimeout(() => recording?.stop(), SECONDS * 1000);
        await recording.ended;
        const recorded = new Blob(slices, { type: devices.types[0] });
        if (recorded.size > 0) {
            const isSilent = hearing?.loud === loud;
            const told = isSilent ? app.texts.review.silent : texts.listen;
            if (works) works.textContent = isSilent ? texts.withoutSound : texts.works;
            fill(test, playback(recorded, texts.play), element("p", { class: isSilent ? "note" : "" }, told));
            announce(told);
            return;
        }
        const hasNext = devices.nextType();
        fill(test, element("p", { class: "problem", role: "alert" }, hasNext ? texts.empty : texts.none));
        if (!hasNext) fill(stage, element("p", { class: "problem", role: "alert" }, texts.none));
    }

    fill(stage, button(texts.open, open, { class: "main" }));
    if (devices.isOpen) showPreview();
    return {
        title: texts.title,
        content: devices.canRecord
            ? [
                element("p", {}, texts.intro), problem, help, stage, button(texts.skip, next, { class: "link" }),
            ]
            : [element("p", { class: "problem" }, texts.none), help, button(app.texts.continue, next, { class: "main" })],
        update() {
            unheard.hidden = !hearing?.isUnheard;
        },
        leave() {
            hearing?.end();
            recording?.stop();
        },
    };
}

/** What to do about devices that cannot be turned on. @param {import("../main.js").App} app @param {unknown} error */
export async function deviceProblem(app, error) {
    if (!(error instanceof DOMException)) throw error;
    const { devices } = app.texts;
    if (error.name === "NotAllowedError") return devices[(await app.devices.permission()) ?? "denied"];
    if (error.name === "NotFoundError") return (await app.devices.hasCamera()) ? devices.noMicrophone : devices.noCamera;
    return devices[error.name] ?? devices.other;
}

/** A recording to play. @param {Blob} recorded @param {string} label */
export function playback(recorded, label) {
    return element("video", { controls: true, playsinline: true, "aria-label": label, src: URL.createObjectURL(recorded) });
}

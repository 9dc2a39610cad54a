// The answer just recorded, or one that an earlier page could not end.

import { button, element, fill } from "../dom.js";
import { answerTo, isUnfinished, questionOf } from "../state.js";
import { playback } from "./check.js";

/** @param {import("../main.js").App} app @param {import("../state.js").Screen} screen @returns {import("../main.js").View} */
export function showReview(app, { question: uri = "" }) {
    const texts = app.texts.review;
    const take = app.queue?.of(uri);
    const isOpen = take !== undefined && isUnfinished(take);
    // The first slice of an mp4 may be its head alone.
    const isTooShort = isOpen && take.slices.length === 1;
    const stage = element("div", { class: "stage" });
    const notice = app.takeNotice() || (isOpen ? texts.interrupted : "");
    const again = element("div");
    let address = "";

    async function show() {
        const recorded = app.recorded ?? (take && (await app.queue?.blob(take.record.uri)));
        app.recorded = null;
        if (!recorded) return;
        const video = playback(recorded, texts.title);
        address = video.src;
        video.addEventListener("error", () => fill(stage, element("p", { class: "note" }, isTooShort ? texts.nothing : texts.noPreview)));
        fill(stage, video);
    }

    async function keep() {
        if (take && isOpen) {
            const seconds = take.slices.reduce((sum, slice) => sum + slice.milliseconds, 0) / 1000;
            await app.queue?.end(take.record.uri, seconds);
        }
        app.go("overview");
        await app.refresh();
    }

    show();
    let left = -1;
    return {
        title: texts.title,
        content: [
            element("p", { class: "asked" }, questionOf(app.model, uri)?.text), notice && element("p", { class: "note" }, notice),
            stage, element("p", { class: "hint" }, texts.saved),
            button(texts.keep, keep, { class: "main" }), again,
        ],
        update() {
            const now = answerTo(app.model, uri)?.takes_left ?? 0;
            if (now === left) return;
            left = now;
            fill(again, now > 0 ? button(texts.again, () => app.go("question", uri)) : element("p", { class: "hint" }, texts.last));
        },
        leave: () => URL.revokeObjectURL(address),
    };
}

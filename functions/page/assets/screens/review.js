// The answer just recorded, or one that an earlier page could not end.

import { button, element, fill } from "../dom.js";
import { answerTo, isUnfinished, questionOf } from "../state.js";
import { giveUp } from "../takes.js";
import { playback } from "./check.js";
import { watcher } from "./overview.js";

/** @param {import("../main.js").App} app @param {import("../state.js").Screen} screen @returns {import("../main.js").View} */
export function showReview(app, { question: uri = "" }) {
    const texts = app.texts.review;
    const take = app.queue?.of(uri);
    const isOpen = take !== undefined && isUnfinished(take);
    // The first slice of an mp4 may be its head alone.
    const isTooShort = isOpen && take.slices.length === 1;
    const stage = element("div", { class: "stage" });
    const notice = app.takeNotice() || (isOpen && !take.record.isStopped ? texts.interrupted : "");
    const saved = element("p", { class: "hint" }, texts.saved);
    const choices = element("div");
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
            await app.queue?.end(take.record.uri, take.record.isStopped ? take.record.seconds : seconds);
        }
        app.go("overview");
        await app.refresh();
    }

    const keepEarlier = () => app.attempt(async () => {
        if (take) await giveUp(app, take.record.uri);
        await app.goAfter(app.follow(), "overview");
    });

    show();
    /** @type {string | undefined} */
    let shown;
    return {
        title: texts.title,
        content: [
            element("p", { class: "asked", dir: "auto" }, questionOf(app.model, uri)?.text), notice && element("p", { class: "note", role: "status" }, notice),
            stage, saved,
            button(texts.keep, keep, { class: "main" }), choices,
        ],
        update() {
            // The foot of the page tells what else becomes of it.
            saved.hidden = !app.queue?.isSending(uri);
            const answer = answerTo(app.model, uri);
            const isLast = (answer?.takes_left ?? 0) === 0;
            const isOver = app.secondsLeft() === 0;
            const earlier = isOpen && answer?.take && answer.take.resource_uri !== take.record.uri ? answer : null;
            const now = JSON.stringify([isLast, isOver, Boolean(earlier), Boolean(earlier?.streams?.mp4)]);
            if (now === shown) return;
            shown = now;
            const last = isOver ? app.texts.refusals.time_over : texts.last;
            fill(choices,
                earlier && [button(texts.keepEarlier, keepEarlier), earlier.streams?.mp4 && watcher(app, earlier, texts.watchEarlier)],
                isLast || isOver ? element("p", { class: "hint" }, last) : button(texts.again, () => app.go("question", uri)));
        },
        leave: () => URL.revokeObjectURL(address),
    };
}

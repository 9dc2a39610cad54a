// The end: everything is sent, then the interview is completed.

import { ApiError } from "../api.js";
import { button, element } from "../dom.js";
import { filled } from "../language.js";
import { isClosed, isComplete } from "../state.js";

/** @param {import("../main.js").App} app @returns {import("../main.js").View} */
export function showSending(app) {
    const texts = app.texts.sending;
    const bar = element("progress", { max: 100, value: 0, "aria-label": texts.bar });
    const state = element("p", { role: "status" });
    const again = button(app.texts.tryAgain, () => finish(), { hidden: true });
    let isCompleting = false;
    /** Whether drafts are to be saved first. */
    let isWaiting = false;

    async function complete() {
        const { candidate, interview } = app.model;
        if (!candidate) return;
        // Once the time is over, the page completes the interview itself. A complete one would take no draft any more.
        await app.drafts.flush();
        isWaiting = !isClosed(interview, app.api.now()) && app.drafts.areWaiting;
        if (isWaiting) return;
        try {
            await app.api.advance(candidate.resource_uri, "interviewing");
        } catch (error) {
            if (!(error instanceof ApiError && error.isAboutAccess)) throw error;
            // Key and session end with a complete interview: perhaps only the answer that said so was lost, which the key tells.
            // Without one, a session that had ended before would have been refused when the status was read.
            const isCompleted = app.key ? (await app.access.readEnd())?.code === "interview_completed" : error.method === "PATCH";
            if (!isCompleted) throw error;
        }
        // Set here, since with the key nothing can be read any more.
        candidate.status = "interviewed";
        if (app.model.interview) app.model.interview.status = "interviewed";
        await app.clear(candidate);
    }

    async function finish() {
        isCompleting = true;
        again.hidden = await app.attempt(complete);
        // With the next tick: each change until here has updated this screen.
        isCompleting = !isWaiting;
    }

    return {
        title: texts.title,
        content: [
            element("p", {}, texts.keepOpen), bar, state, again,
            button(texts.overview, () => app.go("overview"), { class: "link" }),
        ],
        update() {
            const { takes } = app.queue?.progress ?? { takes: 0 };
            const percent = takes > 0 ? (app.queue?.percentSent() ?? 0) : 100;
            bar.value = percent;
            const text = takes > 0 ? filled(texts.progress, { percent }) : texts.completing;
            if (state.textContent !== text) state.textContent = text;
            if (takes === 0 && isComplete(app.model) && !isCompleting) finish();
        },
    };
}

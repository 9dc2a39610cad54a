// Between the button that asks for a recording and its take. Nothing is recorded for a candidate who has left meanwhile.

import { ApiError } from "../api.js";
import { button, element } from "../dom.js";
import { refusalText } from "../language.js";
import { questionOf } from "../state.js";
import { beginTake } from "../takes.js";

/** The time after which the page says that it takes longer, in milliseconds. */
const SLOW = 3000;

/** @param {import("../main.js").App} app @param {import("../state.js").Screen} screen @returns {import("../main.js").View} */
export function showConnect(app, { question: uri = "" }) {
    const texts = app.texts.connect;
    let isGone = false;
    const began = performance.now();
    const state = element("p", { role: "status" });

    async function begin() {
        try {
            if (!(await beginTake(app, uri, () => !isGone))) return;
        } catch (error) {
            if (!(error instanceof ApiError)) throw error;
            if (error.isAboutAccess) await app.access.lose();
            if (isGone) return;
            app.notice = refusalText(error, app.texts);
            app.go("question", uri);
            return;
        }
        const isPrepared = questionOf(app.model, uri)?.preparation_seconds || !app.devices.isOpen;
        app.go(isPrepared ? "prepare" : "record", uri);
    }

    begin();
    return {
        title: texts.title,
        content: [
            state, element("p", {}, texts.text),
            app.devices.isOpen && app.devices.preview(app.texts.check.preview),
            element("div", { class: "controls" }, button(texts.cancel, () => app.go("question", uri))),
        ],
        update() {
            const isSlow = performance.now() - began > SLOW;
            const why = !navigator.onLine ? texts.offline : app.queue?.isSending(uri) ? texts.former : isSlow ? texts.slow : "";
            if (state.textContent !== why) state.textContent = why;
        },
        leave() {
            isGone = true;
        },
    };
}

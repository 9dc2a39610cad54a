// What keeps the reader from going on while something is typed: the session has ended or is another account's, or what they judge is
// gone. The form stays, so that nothing that was typed is lost.

import { ApiError } from "../api.js";
import { button, element, fill } from "../dom.js";
import { filled } from "../language.js";

/** @typedef {import("../staff.js").Staff} Staff */

/** The last segment of a reference. @param {string} reference */
const idIn = (reference) => reference.split("/").at(-2);

export class Notice {
    /** @param {Staff} app */
    constructor(app) {
        this.app = app;
        /** @type {"signedOut" | "other" | "gone" | "removed" | null} */
        this.kind = null;
        /** The name of the account that is signed in now. */
        this.name = "";
        this.shown = "";
        this.whole = element("div", { class: "notice", role: "alert" });
    }

    /** Notes that nobody is signed in any more. @param {ApiError} error */
    note(error) {
        if (error.status === 401) this.set("signedOut");
    }

    /** Notes why an evaluation was not saved. @param {ApiError} error */
    async noteUnsaved(error) {
        this.note(error);
        if (error.status !== 403 && error.status !== 404) return;
        try {
            await this.compare();
        } catch (problem) {
            if (!(problem instanceof ApiError)) throw problem;
            this.note(problem);
        }
    }

    /** Looks whether the reader, who was not, is signed in again. */
    async check() {
        if (this.kind === "signedOut" || this.kind === "other") await this.look();
    }

    /** Looks who is signed in: it may be another account, whose form this would become. */
    async look() {
        try {
            await this.compare();
        } catch (error) {
            // A later look finds out.
            if (!(error instanceof ApiError)) throw error;
        }
    }

    /** Compares the account that is signed in with the one that judges. */
    async compare() {
        const { session, draft, model, api } = this.app;
        const account = await session.read(0);
        if (!account) return this.set("signedOut");
        // The candidate may have been read again by another account.
        const own = draft?.address ?? model.interview?.candidate.my_evaluation;
        if (!own) return this.kind && location.reload();
        if (account.kind !== "customer" || idIn(own) !== idIn(account.resource.resource_uri)) {
            this.name = [account.resource?.first_name, account.resource?.last_name].filter(Boolean).join(" ");
            return this.set("other");
        }
        const candidate = await api.get(/** @type {string} */ (model.interview?.candidate.resource_uri), 0).catch((/** @type {unknown} */ error) => {
            if (!(error instanceof ApiError) || !error.isAboutAccess) throw error;
            return null;
        });
        const before = this.kind;
        this.set(!candidate ? "gone" : candidate.my_evaluation ? null : "removed");
        // Not after a refusal that nothing here explains: it would be refused again and again, without a pause.
        if (before && !this.kind) draft?.resume();
    }

    /** @param {Notice["kind"]} kind */
    set(kind) {
        this.kind = kind;
        this.app.render();
    }

    update() {
        const { app, kind, name } = this;
        const texts = app.texts.notice;
        const next = JSON.stringify([kind, name, document.documentElement.lang]);
        if (next === this.shown) return;
        this.shown = next;
        const again = button(texts.again, () => app.session.openWindow(), { class: "main" });
        const discard = button(texts.discard, () => {
            app.isLeaving = true;
            location.reload();
        });
        fill(this.whole, kind && element("div", { class: "problem" }, element("p", {}, filled(texts[kind], { name })), kind === "signedOut" && again, kind === "other" && [again, discard]));
    }
}

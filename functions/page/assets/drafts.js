// Drafts of written answers: saved at the service while the candidate types, and kept in this browser until they are.

import { ApiError, delay } from "./api.js";
import { draftName } from "./kept.js";
import { remember, remembered } from "./local.js";

/** The time from one request to the next, in milliseconds. The service writes a draft as often. */
const PACE = 2000;
/** The time from the first keystroke to the request, in milliseconds, so that the next ones come along. */
const FIRST = 500;
/** The tag of no draft. */
const NONE = "\"0-\"";

/** Whether two texts differ in nothing that the service keeps. @param {string} one @param {string} other */
const isSame = (one, other) => one.trim() === other.trim();

/** The draft and the text that the service has of an answer. @param {import("./types.js").Answer | undefined} answer */
const storedOf = (answer) => ({ saved: answer?.draft?.text ?? "", tag: answer?.draft?.tag ?? NONE, answered: answer?.text ?? "" });

/** The draft of one answer. */
class Draft extends EventTarget {
    /**
     * @param {import("./main.js").App} app
     * @param {import("./types.js").Answer} answer
     */
    constructor(app, answer) {
        super();
        this.app = app;
        this.question = answer.question;
        this.uri = answer.resource_uri;
        const stored = storedOf(answer);
        /** The draft that the service has, as far as this window knows. */
        this.saved = stored.saved;
        this.tag = stored.tag;
        /** The answer that was sent, as far as this window knows. */
        this.answered = stored.answered;
        /** The text that the candidate sees and changes. */
        this.text = stored.saved || stored.answered;
        /** Whether the candidate has typed anything that the service may not have. */
        this.isTyped = false;
        /** The text of another window, which this one does not overwrite. @type {string | null} */
        this.other = null;
        /** The draft and the answer that the service has since then. */
        this.theirs = stored;
        /** Why the service takes nothing more. */
        this.refusal = "";
        /** Texts that were sent, and may have arrived: their response is on its way or lost. The last one was sent last. @type {string[]} */
        this.unsure = [];
        this.sentAt = 0;
        this.failures = 0;
        this.isClosed = false;
        /** @type {Promise<void> | null} */
        this.sending = null;
        /** @type {ReturnType<typeof setTimeout> | undefined} */
        this.timer = undefined;
        this.recall(stored);
    }

    /** Goes on with what an earlier page could not save. @param {ReturnType<typeof storedOf>} stored */
    recall(stored) {
        const kept = readKept(remembered(draftName(this.uri)));
        if (!kept || isSame(kept.text, this.saved)) {
            remember(draftName(this.uri), null);
            return;
        }
        Object.assign(this, kept, { isTyped: true, saved: "" });
        this.learn(stored);
        this.schedule();
    }

    get isSaved() {
        return !this.isTyped || isSame(this.text, this.saved);
    }

    /** Whether there is a text that is not sent as an answer. */
    get isDraft() {
        return (this.isTyped ? this.text : this.saved).trim() !== "";
    }

    /** The candidate has typed. @param {string} text */
    type(text) {
        this.text = text;
        this.isTyped = true;
        this.keep();
        this.schedule();
        this.app.render();
    }

    /** Keeps in this browser what is not saved, until the interview has ended or another window has it. */
    keep() {
        // A request that was under way then ends later.
        if (this.app.drafts.all.get(this.question) !== this) return;
        remember(draftName(this.uri), this.isSaved ? null : JSON.stringify({ text: this.text, tag: this.tag, unsure: this.unsure }));
    }

    /** Sends the text soon: two seconds after the last one was sent, while the candidate types on. */
    schedule() {
        if (this.timer || this.sending || this.isSaved || this.isStopped) return;
        const wait = this.failures > 0 ? delay(this.failures - 1) : Math.max(FIRST, this.sentAt + PACE - Date.now());
        this.timer = setTimeout(() => this.send(), wait);
    }

    /** Whether the service would take nothing now. Those who were logged out go on after the login. */
    get isStopped() {
        const { isLoggedOut, ended } = this.app.model;
        return this.isClosed || this.other !== null || this.refusal !== "" || isLoggedOut || ended !== null;
    }

    /** Sends what is not saved now. @returns {Promise<void>} */
    async send() {
        clearTimeout(this.timer);
        this.timer = undefined;
        // One request at a time: the service need not guess which text is the last one.
        if (this.sending) return this.sending;
        if (this.isSaved || this.isStopped) return;
        this.sentAt = Date.now();
        this.sending = this.put(this.text).finally(() => {
            this.sending = null;
            this.keep();
            this.schedule();
            this.dispatchEvent(new Event("change"));
            this.app.render();
        });
        return this.sending;
    }

    /** @param {string} text */
    async put(text) {
        this.noteSent(text);
        try {
            // With a tag, since without one the service may answer that it has stored a later text instead.
            const { tag } = await this.app.api.send("PUT", `${this.uri}draft/`, { text }, { match: this.tag, patience: 0, keepalive: true });
            this.noteSaved(text, tag);
        } catch (error) {
            if (!(error instanceof ApiError)) throw error;
            if (error.isTransient) this.failures += 1;
            else if (error.status === 412) await this.compare();
            else if (error.isAboutAccess) await this.app.access.lose();
            else this.refusal = error.code || "other";
        }
    }

    /** Before a text is sent: the page may end before the response comes. @param {string} text */
    noteSent(text) {
        this.unsure = [...this.unsure.slice(-19), text];
        this.keep();
    }

    /** @param {string} text @param {string} [tag] */
    noteSaved(text, tag = NONE) {
        this.failures = 0;
        // One that was sent later, when the page was left, may have replaced this one.
        this.unsure = this.unsure.slice(this.unsure.lastIndexOf(text) + 1);
        this.saved = text;
        this.tag = tag;
    }

    /**
     * Reads what the service has: perhaps a text of another window, perhaps one of this window, whose response was lost.
     * @param {number} [patience] how long to try, in milliseconds
     * @throws {ApiError} if that cannot be read now
     */
    async read(patience) {
        const { candidate } = this.app.model;
        if (!candidate) return;
        const { answers } = await this.app.api.interview(candidate.resource_uri, patience);
        this.learn(storedOf(answers.find(({ resource_uri }) => resource_uri === this.uri)));
        this.failures = 0;
    }

    /** Does the same while nothing is sent: a failed read is repeated with the next draft. */
    async compare() {
        try {
            await this.read(0);
        } catch (error) {
            if (!(error instanceof ApiError)) throw error;
            this.failures += 1;
        }
    }

    /** Takes over what the service has. A text that only another window knows is shown first. @param {ReturnType<typeof storedOf>} stored */
    learn(stored) {
        const known = [this.text, this.saved, this.answered, ...this.unsure, ""];
        const isNew = (/** @type {string} */ found) => !known.some((text) => isSame(text, found));
        const isOther = stored.tag !== this.tag && isNew(stored.saved);
        if (isOther || isNew(stored.answered)) {
            this.other = isOther ? stored.saved : stored.answered;
            this.theirs = stored;
        } else {
            Object.assign(this, stored);
        }
    }

    /** Whether another window has saved or sent a text that this one has not shown. @throws {ApiError} if that cannot be read now */
    async isReplaced() {
        await this.read();
        return this.other !== null;
    }

    /** The candidate has read the text of the other window, and goes on with this one. @param {string} text */
    settle(text) {
        this.other = null;
        Object.assign(this, this.theirs);
        this.type(text);
    }

    /** The page is being left: what is not saved is sent at once, beside a request that is under way. */
    leave() {
        if (this.isSaved || this.isStopped) return;
        if (!this.sending) {
            this.send();
            return;
        }
        // Sent without a tag: the one of the request under way is not known yet, and no page is left to compare texts. The browser may
        // bring the page back, which then knows the text.
        this.noteSent(this.text);
        this.app.api.send("PUT", `${this.uri}draft/`, { text: this.text }, { patience: 0, keepalive: true }).catch(() => undefined);
    }

    /** Sends everything, and returns whether all is saved. */
    async flush() {
        while (!this.isSaved && !this.isStopped) {
            const before = this.failures;
            await this.send();
            if (this.failures > before) return false;
        }
        return this.isSaved;
    }

    /** Sends nothing more, so that the answer is the last that is written. */
    async close() {
        this.isClosed = true;
        clearTimeout(this.timer);
        this.timer = undefined;
        await this.sending;
    }

    /** The answer could not be sent: the draft goes on. */
    reopen() {
        this.isClosed = false;
        this.schedule();
    }
}

/** All drafts of a candidate. */
export class Drafts {
    /** @param {import("./main.js").App} app */
    constructor(app) {
        this.app = app;
        /** @type {Map<string, Draft>} */
        this.all = new Map();
        addEventListener("pagehide", () => this.each((draft) => draft.leave()));
        document.addEventListener("visibilitychange", () => document.hidden && this.each((draft) => draft.send()));
        addEventListener("online", () => this.each((draft) => draft.send()));
    }

    /** @param {(draft: Draft) => unknown} action */
    each(action) {
        this.all.forEach((draft) => action(draft));
    }

    /** The drafts, for the state of the page. */
    get list() {
        return [...this.all.values()];
    }

    get areSaved() {
        return this.list.every(({ isSaved }) => isSaved);
    }

    /** Whether any is not saved, but can be. */
    get areWaiting() {
        return this.list.some((draft) => !draft.isSaved && !draft.isStopped);
    }

    /** Begins with what an earlier page has kept of answers that can still be written. @param {import("./types.js").Answer[]} answers */
    recall(answers) {
        for (const answer of answers) {
            if (!this.all.has(answer.question) && remembered(draftName(answer.resource_uri)) !== null) this.open(answer);
        }
    }

    /** @param {import("./types.js").Answer} answer */
    open(answer) {
        const known = this.all.get(answer.question);
        if (known && (known.isTyped || known.other !== null)) return known;
        const draft = new Draft(this.app, answer);
        this.all.set(answer.question, draft);
        return draft;
    }

    /** The interview has ended. */
    clear() {
        this.each((draft) => draft.close());
        this.all.clear();
    }

    /** The answer was sent. @param {string} question */
    forget(question) {
        const draft = this.all.get(question);
        if (draft) remember(draftName(draft.uri), null);
        this.all.delete(question);
    }

    /** Sends everything that is not saved, and returns the question of one that cannot be. */
    async flush() {
        for (const draft of this.list) if (!(await draft.flush())) return draft.question;
        return null;
    }
}

/** @param {string | null} kept @returns {{ text: string, tag: string, unsure: string[] } | null} */
function readKept(kept) {
    try {
        return kept === null ? null : JSON.parse(kept);
    } catch {
        return null;
    }
}

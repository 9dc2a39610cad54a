// The reader's own evaluation of a candidate. It is saved by itself while it is a draft; nothing that another window has saved is
// overwritten.

import { ApiError, delay } from "../api.js";

/** How long the page waits after the last change before it saves, in milliseconds. */
const PAUSE = 2_000;
/** How often the page merges what others have saved before it waits. */
const MERGES = 5;

/**
 * @typedef {object} Evaluation as the API shows it
 * @property {{ question?: string | null, criterion?: string | null, value: number | null, comment: string }[]} ratings
 * @property {string | null} recommendation
 * @property {string} comment
 * @property {boolean} completed
 * @property {string | null} completed_at
 *
 * @typedef {"saved" | "unsaved" | "saving" | "offline" | "busy" | "signedOut" | "refused"} SaveState
 */

/** The name of a field that rates an item. @param {string} item @param {"value" | "comment"} part */
export const fieldOf = (item, part) => `${part} ${item}`;

/** A value as it was typed, as a number; null without one, NaN for anything else. @param {string} text */
export function valueOf(text) {
    const typed = text.trim().replace(",", ".");
    if (typed === "") return null;
    return /^\d{1,3}(\.\d?)?$/.test(typed) ? Number(typed) : NaN;
}

/** @param {Evaluation | null} evaluation @returns {Map<string, string>} */
function fieldsIn(evaluation) {
    const fields = new Map([["recommendation", evaluation?.recommendation ?? ""], ["comment", evaluation?.comment ?? ""]]);
    for (const { question, criterion, value, comment } of evaluation?.ratings ?? []) {
        const item = /** @type {string} */ (question ?? criterion);
        fields.set(fieldOf(item, "value"), value === null ? "" : value.toLocaleString(document.documentElement.lang, { useGrouping: false }));
        fields.set(fieldOf(item, "comment"), comment);
    }
    return fields;
}

/** A text as the service stores it. @param {string} text */
const stored = (text) => text.normalize("NFC").split(/\r\n|\r|\n/).map((line) => line.trimEnd()).join("\n").replace(/^\n+/, "").trimEnd();

/** Whether two texts of a field mean the same. @param {string} name @param {string} one @param {string} other */
const isSame = (name, one, other) => (name.startsWith("value ") ? Object.is(valueOf(one), valueOf(other)) : stored(one) === stored(other));

/** The reader's own evaluation, as it is typed in this window. */
export class Draft {
    /**
     * @param {import("../api.js").Api} api
     * @param {string} address
     * @param {number} maximum the highest value
     * @param {string[]} items the questions and criteria
     */
    constructor(api, address, maximum, items) {
        this.api = api;
        this.address = address;
        this.maximum = maximum;
        this.items = items;
        /** What was typed. @type {Map<string, string>} */
        this.fields = new Map();
        /** What this window knows to be saved of it. @type {Map<string, string>} */
        this.saved = new Map();
        /** The tag of what is saved; undefined before the first time. @type {string | undefined} */
        this.tag = undefined;
        this.isCompleted = false;
        /** @type {string | null} */
        this.completedAt = null;
        /** Whether another window has completed it, which this one has found when it wanted to save a draft. */
        this.isCompletedElsewhere = false;
        /** Whether a completed evaluation is being changed. */
        this.isEditing = false;
        /** What another window has saved in fields that were changed in this one as well. @type {Map<string, string>} */
        this.conflicts = new Map();
        /** @type {SaveState} */
        this.state = "saved";
        /** Why the service has refused to save. @type {ApiError | null} */
        this.refusal = null;
        /** The request that is on its way. @type {Promise<boolean> | null} */
        this.saving = null;
        this.failures = 0;
        /** @type {ReturnType<typeof setTimeout> | undefined} */
        this.timer = undefined;
        /** Called when something has changed. */
        this.changed = () => {};
        /** Called when the service no longer knows who the reader is, or refuses them. @type {(error: ApiError) => void} */
        this.refused = () => {};
    }

    /** Reads what is saved. */
    async load() {
        const { evaluation, tag } = await this.read();
        this.adopt(evaluation, tag);
        this.fields = new Map(this.saved);
        return this;
    }

    /** @returns {Promise<{ evaluation: Evaluation | null, tag: string | undefined }>} */
    async read() {
        try {
            const { body, tag } = await this.api.send("GET", this.address);
            return { evaluation: body, tag };
        } catch (error) {
            if (error instanceof ApiError && error.status === 404) return { evaluation: null, tag: undefined };
            throw error;
        }
    }

    /** @param {Evaluation | null} evaluation @param {string | undefined} tag */
    adopt(evaluation, tag) {
        this.saved = fieldsIn(evaluation);
        this.tag = tag;
        this.isCompleted = evaluation?.completed ?? false;
        this.completedAt = evaluation?.completed_at ?? null;
    }

    /** What a field holds. @param {string} name */
    get(name) {
        return this.fields.get(name) ?? "";
    }

    /** Whether the fields can be changed. */
    get isOpen() {
        return !this.isCompleted || this.isEditing;
    }

    /** Takes over what was typed. @param {string} name @param {string} text */
    set(name, text) {
        this.fields.set(name, text);
        this.schedule();
    }

    /** Whether a value is none of the scale. @param {string} name */
    isWrong(name) {
        const value = name.startsWith("value ") ? valueOf(this.get(name)) : null;
        return value !== null && !(value <= this.maximum);
    }

    /** Whether a field differs from what is saved. @param {string} name */
    isChanged(name) {
        return !isSame(name, this.get(name), this.saved.get(name) ?? "");
    }

    get names() {
        return [...new Set([...this.fields.keys(), ...this.saved.keys()])];
    }

    /** Whether a field waits for the reader before it can be saved. @param {string} name */
    isHeld(name) {
        return this.isWrong(name) || this.conflicts.has(name);
    }

    /** Whether what was typed differs from what is saved. */
    get differs() {
        return this.names.some((name) => this.isChanged(name));
    }

    /** Whether something would be lost with the page. */
    get isUnsaved() {
        return this.saving !== null || this.differs;
    }

    /** Whether a field waits for the reader. */
    get isHeldBack() {
        return this.names.some((name) => this.isHeld(name));
    }

    /** Whether something waits that could be saved now. */
    get isDue() {
        return this.names.some((name) => this.isChanged(name) && !this.isHeld(name));
    }

    /** Saves soon, while it is a draft. */
    schedule() {
        clearTimeout(this.timer);
        if (this.state === "saved" || this.state === "refused") this.state = "unsaved";
        if (!this.isUnsaved) this.state = "saved";
        else if (!this.isCompleted && this.state !== "signedOut") this.timer = setTimeout(() => this.save(), PAUSE);
        this.changed();
    }

    /**
     * Saves what was typed. One request is on its way at a time, so that none overtakes another. Returns whether nothing is left.
     * @param {{ completed?: boolean }} [options]
     * @returns {Promise<boolean>}
     */
    async save({ completed = false } = {}) {
        clearTimeout(this.timer);
        // Others see a completed evaluation, so only the reader changes it.
        if (this.isCompleted && !completed) return !this.differs;
        if (this.saving) {
            await this.saving;
            return this.save({ completed });
        }
        if (!this.isDue && !completed) return !this.differs;
        this.saving = this.send(completed);
        const isSaved = await this.saving;
        this.saving = null;
        if (isSaved) this.settle();
        this.changed();
        return isSaved && !this.differs;
    }

    /** Notes how far it is after a request, and goes on with what was typed meanwhile. */
    settle() {
        this.failures = 0;
        this.state = this.differs ? "unsaved" : "saved";
        if (this.isDue && !this.isCompleted) this.timer = setTimeout(() => this.save(), PAUSE);
    }

    /** @param {boolean} completed @returns {Promise<boolean>} */
    async send(completed) {
        this.state = "saving";
        this.changed();
        for (let attempt = 1; ; attempt += 1) {
            const sent = new Map(this.names.map((name) => [name, this.isHeld(name) ? (this.saved.get(name) ?? "") : this.get(name)]));
            try {
                const { body, tag } = await this.api.send("PUT", this.address, this.bodyOf(sent, completed), { match: this.tag, isNew: !this.tag, patience: 0, keepalive: true });
                this.adopt(body, tag);
                // As it was typed: the service may have dropped characters, which must not be sent again for ever.
                for (const [name, text] of sent) this.saved.set(name, text);
                this.isEditing = this.isCompletedElsewhere = false;
                return true;
            } catch (error) {
                if (!(error instanceof ApiError)) throw error;
                // Without a pause, a tag that never matches, as a proxy may make of it, would be sent for ever.
                if (error.status === 412 && attempt > MERGES) return this.fail(new ApiError(409, {}));
                const next = error.status === 412 ? await this.merge().catch((/** @type {unknown} */ problem) => problem) : error;
                if (next instanceof ApiError) return this.fail(next);
                if (next) throw next;
                // Completed in another window: what others see is not changed without being asked for.
                if (this.isCompleted && !completed) {
                    this.isCompletedElsewhere = true;
                    this.isEditing = this.differs;
                    return true;
                }
                if (!completed && !this.isDue) return true;
                if (completed && this.conflicts.size > 0) return true;
            }
        }
    }

    /** @param {Map<string, string>} fields @param {boolean} completed */
    bodyOf(fields, completed) {
        const ratings = this.items.flatMap((item) => {
            const value = valueOf(fields.get(fieldOf(item, "value")) ?? "");
            const comment = (fields.get(fieldOf(item, "comment")) ?? "").trim();
            const kind = item.includes("/criteria/") ? "criterion" : "question";
            return value === null && comment === "" ? [] : [{ [kind]: this.api.referenceTo(item), value, comment }];
        });
        return { ratings, recommendation: fields.get("recommendation") || null, comment: fields.get("comment") ?? "", completed, maximum_score: this.maximum };
    }

    /** After another window has saved: takes over what was not changed here, and notes what was changed in both. */
    async merge() {
        const before = this.saved;
        const { evaluation, tag } = await this.read();
        this.adopt(evaluation, tag);
        for (const name of new Set([...this.names, ...before.keys()])) {
            const [mine, then, theirs] = [this.get(name), before.get(name) ?? "", this.saved.get(name) ?? ""];
            if (isSame(name, mine, then)) this.fields.set(name, theirs);
            else if (isSame(name, theirs, then) || isSame(name, theirs, mine)) this.conflicts.delete(name);
            else this.conflicts.set(name, theirs);
        }
    }

    /** Ends a conflict. @param {string} name @param {boolean} isMine whether what was typed in this window stays */
    decide(name, isMine) {
        const theirs = this.conflicts.get(name) ?? "";
        this.conflicts.delete(name);
        if (!isMine) this.fields.set(name, theirs);
        this.schedule();
    }

    /** @param {ApiError} error */
    fail(error) {
        this.refusal = error;
        if (error.status === 401) this.state = "signedOut";
        else if (error.isTransient) this.retry(error);
        else this.state = "refused";
        if (!error.isTransient) this.refused(error);
        return false;
    }

    /** @param {ApiError} error */
    retry(error) {
        this.state = error.status === 0 ? "offline" : "busy";
        if (!this.isCompleted) this.timer = setTimeout(() => this.save(), delay(this.failures));
        this.failures += 1;
    }

    /** Goes on when the reader is signed in again. */
    resume() {
        this.refusal = null;
        this.state = this.differs ? "unsaved" : "saved";
        this.changed();
        return this.save();
    }

    /** Opens a completed evaluation for changes. */
    edit() {
        this.isEditing = true;
        this.changed();
    }

    /** Drops what was typed since the evaluation was completed. */
    discard() {
        this.isEditing = false;
        this.conflicts.clear();
        this.fields = new Map(this.saved);
        this.state = "saved";
        this.changed();
    }

    /** Reads again what another request has changed, such as a veto. */
    async refresh() {
        await this.merge();
        this.settle();
        this.changed();
    }
}

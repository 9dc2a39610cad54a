// Sends recordings in parts, one at a time, until the service has confirmed the whole take. What has been recorded is in the
// store before it is sent, so that a reload or a crash loses nothing of it.

import { ApiError, delay, pause } from "./api.js";
import { storeName } from "./kept.js";
import { Store } from "./store.js";

/** The least length of a part, in milliseconds: each part costs two requests. The last one may be shorter. */
const PART_MILLISECONDS = 5000;
/** The most bytes of a slice, and of a part unless one slice fills it: half of what the service accepts. */
const MAX_BYTES = 4 * 1024 * 1024;

/**
 * @typedef {object} TakeRecord a take as the browser keeps it
 * @property {string} uri
 * @property {string} question
 * @property {number} number
 * @property {string} begunAt
 * @property {string} recordFrom
 * @property {string} recordUntil
 * @property {string} contentType
 * @property {"recorder" | "file"} source
 * @property {boolean} [isStopped] whether the candidate has ended the recording, and has yet to decide whether it is the answer
 * @property {boolean} isEnded whether it is the answer, so that the service is to be told
 * @property {number} seconds its length
 * @property {string} [refusal] why the service does not accept it
 *
 * @typedef {{ sequence: number, size: number, milliseconds: number, isKept?: boolean }} Slice `isKept`: false while it is written
 * @typedef {{ take: string, number: number, first: number, last: number, isSent: boolean }} Part
 *
 * @typedef {object} LocalTake
 * @property {TakeRecord} record
 * @property {Slice[]} slices
 * @property {Part[]} parts
 */

/** The recordings of one candidate that the service does not have yet. */
export class Queue extends EventTarget {
    /** @param {string} candidate @param {Store} store @param {import("./api.js").Api} api */
    constructor(candidate, store, api) {
        super();
        this.candidate = candidate;
        this.store = store;
        this.api = api;
        /** @type {LocalTake[]} */
        this.takes = [];
        /** Whether the candidate has to log in before anything else can be sent. */
        this.isLoggedOut = false;
        this.closesAt = "";
        /** Whether the last attempt to send has failed. */
        this.isStuck = false;
        /** How much was sent when it was last asked for, in percent. */
        this.percent = 0;
        this.isClosed = false;
        this.wake = () => {};
        /** Called when the service has a take, or refuses it, before the take is forgotten. @type {() => Promise<void>} */
        this.settle = async () => {};
    }

    /** Opens the queue of a candidate with what an earlier page has left. @param {string} candidate @param {import("./api.js").Api} api */
    static async open(candidate, api) {
        const queue = new Queue(candidate, await Store.open(storeName(candidate)), api);
        for (const record of await queue.store.all("takes")) {
            const slices = (await queue.store.all("slices", record.uri)).map(({ bytes, ...slice }) => ({ ...slice, size: bytes.byteLength }));
            queue.takes.push({ record, slices, parts: await queue.store.all("parts", record.uri) });
        }
        queue.takes.sort((one, other) => one.record.recordFrom.localeCompare(other.record.recordFrom));
        return queue;
    }

    /** Keeps when the interview closes: after that, what is left here is deleted some day. @param {string} closesAt */
    async noteClose(closesAt) {
        if (closesAt === this.closesAt) return;
        this.closesAt = closesAt;
        await this.store.put("interviews", { candidate: this.candidate, closesAt });
    }

    /** The local take of a question: at most one. @param {string} question */
    of(question) {
        return this.takes.find(({ record }) => record.question === question);
    }

    /** The ended takes that the service does not have yet, and their bytes. */
    get progress() {
        const counted = this.takes.filter(({ record }) => record.isEnded && !record.refusal);
        const bytes = (/** @type {Slice[]} */ slices) => slices.reduce((sum, slice) => sum + slice.size, 0);
        const sent = (/** @type {LocalTake} */ take) => {
            const last = Math.max(-1, ...take.parts.filter((part) => part.isSent).map((part) => part.last));
            return take.slices.filter((slice) => slice.sequence <= last);
        };
        return {
            takes: counted.length,
            total: counted.reduce((sum, take) => sum + bytes(take.slices), 0),
            sent: counted.reduce((sum, take) => sum + bytes(sent(take)), 0),
        };
    }

    /** How much of the ended takes is sent, in percent: until all of it is, never less than before. */
    percentSent() {
        const { takes, total, sent } = this.progress;
        this.percent = takes > 0 ? Math.max(this.percent, Math.floor((100 * sent) / total)) : 0;
        return this.percent;
    }

    /** Whether a take is on its way to the service, as far as the browser knows. @param {string} question */
    isSending(question) {
        const { isEnded, refusal } = this.of(question)?.record ?? {};
        return isEnded === true && !refusal && !this.isStuck && !this.isLoggedOut && navigator.onLine;
    }

    /** Whether something recorded would be lost with this browser. */
    get isUnsent() {
        return this.takes.some(({ record, slices }) => slices.length > 0 && !record.refusal);
    }

    /**
     * Keeps a take that the service has begun. Former takes of its question, which the service now refuses, are forgotten.
     * @param {import("./types.js").Take} take
     * @param {string} question
     * @param {string} contentType
     * @param {"recorder" | "file"} source
     */
    async begin(take, question, contentType, source) {
        const former = this.takes.filter(({ record }) => record.question === question && record.uri !== take.resource_uri);
        for (const { record } of former) await this.forget(record.uri);
        /** @type {TakeRecord} */
        const record = {
            uri: take.resource_uri, question, number: take.number, begunAt: take.begun_at, recordFrom: take.record_from,
            recordUntil: take.record_until, contentType, source, isEnded: false, seconds: 0,
        };
        const known = this.takes.find((one) => one.record.uri === record.uri);
        if (known) {
            known.record = record;
        } else {
            this.takes.push({ record, slices: [], parts: [] });
        }
        await this.store.put("takes", record);
        this.changed();
    }

    /**
     * Keeps what was recorded next. Numbers the slices before anything asynchronous, so that their order is that of the calls.
     * @param {string} uri
     * @param {Blob} blob
     * @param {number} milliseconds
     */
    async add(uri, blob, milliseconds) {
        const take = this.find(uri);
        if (!take || blob.size === 0) return;
        /** @type {Promise<void>[]} */
        const kept = [];
        for (let from = 0; from < blob.size; from += MAX_BYTES) {
            const piece = blob.slice(from, from + MAX_BYTES);
            const sequence = take.slices.length;
            const share = (milliseconds * piece.size) / blob.size;
            kept.push(this.keep(uri, piece, { sequence, size: piece.size, milliseconds: share }));
        }
        await Promise.all(kept);
        this.changed();
    }

    /** @param {string} uri @param {Blob} piece @param {Slice} slice */
    async keep(uri, piece, slice) {
        const take = this.find(uri);
        /** @type {Slice} */
        const listed = { ...slice, isKept: false };
        take?.slices.push(listed);
        const bytes = await piece.arrayBuffer();
        await this.store.put("slices", { take: uri, ...slice, bytes });
        listed.isKept = true;
    }

    /** Stops a take that may not become the answer. @param {string} uri @param {number} seconds */
    async stop(uri, seconds) {
        const take = this.find(uri);
        if (take) await this.change(take, { isStopped: true, seconds });
        this.changed();
    }

    /** Ends a take: its last part may be sent, and the service told. @param {string} uri @param {number} seconds */
    async end(uri, seconds) {
        const take = this.find(uri);
        if (!take) return;
        if (take.slices.length === 0) {
            await this.forget(uri);
        } else {
            await this.change(take, { isEnded: true, seconds: Math.min(Math.round(seconds), 3600) });
        }
        this.changed();
    }

    /** The recording of a take. @param {string} uri */
    async blob(uri) {
        const take = this.find(uri);
        const pieces = [];
        // Slice by slice: a blob lies outside of the page's memory, the bytes of a slice do not.
        for (const { sequence } of take?.slices ?? []) {
            const [slice] = await this.store.all("slices", uri, sequence, sequence);
            if (slice) pieces.push(new Blob([slice.bytes]));
        }
        return new Blob(pieces, { type: take?.record.contentType });
    }

    /** Forgets a take. @param {string} uri */
    async forget(uri) {
        this.takes = this.takes.filter(({ record }) => record.uri !== uri);
        await this.store.forget(uri);
    }

    /** Forgets everything, after the interview. */
    async clear() {
        this.takes = [];
        await this.store.destroy();
    }

    /** Goes on after a login. */
    resume() {
        this.isLoggedOut = false;
        this.wake();
    }

    /** Leaves everything to another window. */
    close() {
        this.isClosed = true;
        this.takes = [];
        this.store.close();
        this.wake();
    }

    /** Sends until it is closed. */
    async run() {
        for (let attempt = 0; !this.isClosed; ) {
            const [take, step] = this.next() ?? [];
            if (!take || !step) {
                await new Promise((done) => (this.wake = () => done(undefined)));
                continue;
            }
            try {
                await step();
                attempt = 0;
                this.isStuck = false;
            } catch (error) {
                // Other errors are those of the disk, which may pass like those of the network.
                const refusal = error instanceof ApiError && !error.isTransient ? error : undefined;
                if (refusal?.isAboutAccess) {
                    this.isLoggedOut = true;
                    this.dispatchEvent(new Event("loggedout"));
                } else if (!refusal) {
                    this.isStuck = true;
                    this.changed();
                    await pause(delay(attempt));
                    attempt += 1;
                } else {
                    await this.change(take, { refusal: refusal.code || "refused" });
                    await this.settle();
                }
            }
            this.changed();
        }
    }

    /**
     * The next step, and the take that it is of.
     * @returns {[LocalTake, () => Promise<void>] | undefined}
     */
    next() {
        if (this.isLoggedOut) return undefined;
        for (const take of this.takes) {
            if (take.record.refusal) continue;
            const unsent = take.parts.find((part) => !part.isSent);
            if (unsent) return [take, () => this.sendPart(take, unsent)];
            const part = nextPart(take);
            if (part) return [take, () => this.define(take, part)];
            const isWhole = take.parts.at(-1)?.last === take.slices.at(-1)?.sequence;
            if (take.record.isEnded && isWhole) return [take, () => this.finish(take)];
        }
        return undefined;
    }

    /** Fixes what a part consists of before anything is sent: after a crash, the same bytes have the same number. @param {LocalTake} take @param {Part} part */
    async define(take, part) {
        await this.keepPart(take, part);
        take.parts.push(part);
    }

    /** @param {LocalTake} take @param {Part} part */
    async sendPart(take, part) {
        const slices = await this.store.all("slices", part.take, part.first, part.last);
        const body = await new Blob(slices.map((slice) => slice.bytes)).arrayBuffer();
        const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", body));
        const sha256 = btoa(String.fromCharCode(...digest));
        const asked = { parts: [{ number: part.number, size: body.byteLength, sha256 }] };
        const { body: signed } = await this.api.send("POST", `${part.take}parts/`, asked, { patience: 0 });
        const { url, method, headers } = signed.parts[0].upload;
        // The browser sets these itself.
        const allowed = Object.entries(headers).filter(([name]) => !/^(host|content-length)$/i.test(name));
        /** @type {Response} */
        let response;
        try {
            response = await fetch(url, { method, headers: Object.fromEntries(allowed), body, signal: AbortSignal.timeout(600_000) });
        } catch {
            throw new ApiError(0, {});
        }
        // 412: the part is there, and only the answer was lost. Everything else passes, or a new signature helps.
        if (!response.ok && response.status !== 412) throw new ApiError(503, {});
        part.isSent = true;
        await this.keepPart(take, part);
    }

    /** @param {LocalTake} take @param {Part} part */
    async keepPart(take, part) {
        // The candidate may have begun the next take meanwhile.
        if (this.takes.includes(take)) await this.store.put("parts", part);
    }

    /** @param {LocalTake} take */
    async finish(take) {
        const { uri, seconds, source } = take.record;
        const body = { parts: take.parts.length, recorded_seconds: seconds, source };
        const { body: finished } = await this.api.send("PATCH", uri, body, { patience: 0 });
        if (finished.missing_parts.length > 0) {
            for (const part of take.parts.filter(({ number }) => finished.missing_parts.includes(number))) {
                part.isSent = false;
                await this.keepPart(take, part);
            }
            // They were sent: wait before the next attempt.
            throw new ApiError(503, {});
        }
        await this.settle();
        await this.forget(uri);
    }

    /** @param {string} uri */
    find(uri) {
        return this.takes.find(({ record }) => record.uri === uri);
    }

    /** @param {LocalTake} take @param {Partial<TakeRecord>} change */
    async change(take, change) {
        take.record = { ...take.record, ...change };
        if (this.takes.includes(take)) await this.store.put("takes", take.record);
    }

    changed() {
        this.wake();
        this.dispatchEvent(new Event("change"));
    }
}

/**
 * The next part of a take, of slices that no part has yet; undefined while they are too few.
 * @param {LocalTake} take
 * @returns {Part | undefined}
 */
export function nextPart({ record, slices, parts }) {
    const former = parts.at(-1)?.last ?? -1;
    const waiting = slices.filter(({ sequence }) => sequence > former);
    const first = waiting[0]?.sequence;
    let last = first;
    let size = 0;
    let milliseconds = 0;
    for (const slice of waiting) {
        // A slice that is still being written is not sent, nor any after it.
        if (slice.isKept === false) return undefined;
        const isFull = size > 0 && size + slice.size > MAX_BYTES;
        if (isFull) break;
        ({ sequence: last } = slice);
        size += slice.size;
        milliseconds += slice.milliseconds;
        if (milliseconds >= PART_MILLISECONDS) break;
    }
    const isLast = record.isEnded && last === waiting.at(-1)?.sequence;
    const isDue = milliseconds >= PART_MILLISECONDS || last !== waiting.at(-1)?.sequence || isLast;
    if (first === undefined || !isDue) return undefined;
    return { take: record.uri, number: parts.length + 1, first, last, isSent: false };
}

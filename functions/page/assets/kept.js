// What this browser keeps of interviews, and when it is deleted: on a shared computer, the next person is somebody else.

import { keptTexts, remember } from "./local.js";
import { Store } from "./store.js";

/** How long unsent recordings outlive the close of an interview, in milliseconds: the company may give more time. */
const GRACE = 7 * 24 * 3600 * 1000;

/** What the names of stores begin with. */
const STORE = "interview ";

/** The name of a candidate's store, and of the lock of the window that uses it. @param {string} candidate */
export const storeName = (candidate) => `${STORE}${candidate}`;

/** The name of the draft of an answer. @param {string} answer */
export const draftName = (answer) => `draft ${answer}`;

/** The drafts of a candidate. @param {string} candidate */
const draftsOf = (candidate) => keptTexts().filter((name) => name.startsWith(draftName(candidate)));

/** Deletes the recordings and drafts of an interview. @param {string} candidate */
export async function forgetInterview(candidate) {
    for (const draft of draftsOf(candidate)) remember(draft, null);
    await (await Store.open(storeName(candidate))).destroy();
}

/**
 * Deletes what is kept of interviews that are over, and of those of others with nothing that can still be sent.
 * @param {Pick<import("./types.js").Candidate, "resource_uri" | "status">} own
 * @param {number} now the time of the service
 */
export async function tidyUp({ resource_uri: own, status }, now) {
    const isOpen = status === "confirmed" || status === "interviewing";
    for (const { name = "" } of await indexedDB.databases()) {
        if (!name.startsWith(STORE)) continue;
        const candidate = name.slice(STORE.length);
        await navigator.locks.request(name, { ifAvailable: true }, async (lock) => {
            // A window has it open.
            if (!lock) return;
            const { closesAt, isUnsent } = await lookInto(candidate);
            // An aborted interview is closed like those of others: with more time, the candidate goes on.
            const mayBeSent = candidate !== own || status === "aborted" ? now < Date.parse(closesAt) + GRACE : isOpen;
            if (!mayBeSent || !isUnsent) await forgetInterview(candidate);
        });
    }
}

/**
 * When an interview closes, as far as this browser knows, and whether there is a draft, or a recording that the service has not
 * refused.
 * @param {string} candidate
 * @returns {Promise<{ closesAt: string, isUnsent: boolean }>}
 */
async function lookInto(candidate) {
    const store = await Store.open(storeName(candidate));
    const [[interview], takes] = await Promise.all([store.all("interviews"), store.all("takes")]);
    store.close();
    const isRecorded = takes.some((/** @type {import("./queue.js").TakeRecord} */ take) => !take.refusal);
    return { closesAt: interview?.closesAt ?? "", isUnsent: isRecorded || draftsOf(candidate).length > 0 };
}

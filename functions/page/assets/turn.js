// One window at a time has the interview: two would send everything twice.

/** How long the window that has it is given to save and to answer, in milliseconds. One that the browser has frozen does neither. */
const PATIENCE = 5000;

/** @typedef {{ isBusy: () => boolean, save: () => unknown, gained: () => unknown, lost: () => unknown }} Holder what a window does about its turn */

/** The turn of this window among those of the browser. */
export class Turn {
    /** @param {string} name that of the lock @param {Holder} holder */
    constructor(name, holder) {
        this.name = name;
        this.holder = holder;
        this.isHeld = false;
        /** The other windows of the browser, if it lets them talk. */
        this.channel = globalThis.BroadcastChannel ? new BroadcastChannel(name) : null;
        this.channel?.addEventListener("message", async ({ data }) => {
            if (data !== "ask" || !this.isHeld) return;
            const isBusy = holder.isBusy();
            // The other window reads what the service has.
            if (!isBusy) await holder.save();
            this.channel?.postMessage(isBusy ? "busy" : "free");
        });
    }

    /** Takes the turn if no other window has it; else waits for it. Returns whether it is this window's. */
    async take() {
        if (this.isHeld || !navigator.locks) return true;
        await this.request({ ifAvailable: true });
        if (!this.isHeld) this.wait();
        return this.isHeld;
    }

    /** Waits until the other window is closed. */
    async wait() {
        await this.request({});
        this.holder.gained();
    }

    /** Takes the turn from the window that has it. Returns whether that one lets it go: a recording is ended first. */
    async takeOver() {
        const answered = new AbortController();
        const isFree = await new Promise((done) => {
            setTimeout(() => done(true), PATIENCE);
            this.channel?.addEventListener("message", ({ data }) => data !== "ask" && done(data === "free"), { signal: answered.signal });
            this.channel?.postMessage("ask");
        });
        answered.abort();
        if (!isFree) return false;
        await this.request({ steal: true });
        this.holder.gained();
        return true;
    }

    /** Asks for the lock, which this window holds until it is closed or another one steals it. @param {LockOptions} options */
    request(options) {
        return new Promise((done) => {
            navigator.locks.request(this.name, options, (lock) => {
                this.isHeld = lock !== null;
                done(undefined);
                return lock && new Promise(() => {});
            }).catch(() => {
                this.isHeld = false;
                // The other window has not waited for the answer. What is being recorded here must not end.
                if (this.holder.isBusy()) return this.request({ steal: true });
                this.holder.lost();
                this.wait();
            });
        });
    }
}

// A recorded answer. Its address lives for some minutes: when it has died, the player fetches a new one and goes on at the same
// second.

import { ApiError } from "../api.js";
import { element } from "../dom.js";

/** The age at which an address may have died, in milliseconds. A younger one that fails does so for another reason. */
const YOUNG = 30_000;

/** @typedef {import("./state.js").RecordedAnswer} RecordedAnswer */

/** The video of one answer. Its owner ends it. */
export class Player {
    /**
     * @param {number} number that of the question
     * @param {RecordedAnswer | null} answer
     * @param {() => Promise<RecordedAnswer | null>} renew reads the answer with a new address; null if it cannot be played any more
     * @param {() => void} changed called when the player shows something else
     */
    constructor(number, answer, renew, changed) {
        this.number = number;
        this.renew = renew;
        this.changed = changed;
        /** Where the guest is, in seconds. */
        this.seconds = 0;
        /** Whether the guest wants it to play. */
        this.isPlaying = false;
        this.hasEnded = false;
        /** Whether a new address is fetched or tried. */
        this.isRenewing = false;
        /** When the last new address came. */
        this.renewedAt = -Infinity;
        /** Why it does not play. @type {ApiError | "unplayable" | null} */
        this.fault = null;
        this.video = element("video", {
            class: "answer", controls: true, preload: "metadata", playsinline: true, tabindex: 0, controlslist: "nodownload noremoteplayback", disableremoteplayback: true,
            ontimeupdate: () => this.note(), onseeking: () => this.note(),
            onplay: () => this.follow(true), onpause: () => this.follow(false), onended: () => this.follow(false),
            onloadedmetadata: () => this.resume(), onerror: () => this.recover(),
        });
        if (answer) this.use(answer);
    }

    /** Whether what the video tells is the guest's doing: an address that is lost or replaced changes it as well. */
    get isSettled() {
        return !this.isRenewing && !this.video.error;
    }

    note() {
        if (this.isSettled) this.seconds = this.video.currentTime;
    }

    /** @param {boolean} isPlaying */
    follow(isPlaying) {
        if (!this.isSettled) return;
        this.isPlaying = isPlaying;
        this.hasEnded = this.video.ended;
        this.changed();
    }

    /** Plays or pauses. */
    toggle() {
        if (this.fault) return this.fetchAgain();
        this.isPlaying = !this.isPlaying;
        if (this.isPlaying) this.play();
        else this.video.pause();
        this.changed();
    }

    play() {
        this.video.play().catch((/** @type {Error} */ error) => {
            // Another address that is loaded, or one that has died, is dealt with where it is noticed.
            if (error.name !== "NotAllowedError") return;
            this.isPlaying = false;
            this.changed();
        });
    }

    /** @param {RecordedAnswer} answer */
    use({ streams, thumb, dimensions }) {
        const { video } = this;
        if (dimensions) video.style.aspectRatio = `${dimensions.width} / ${dimensions.height}`;
        if (thumb && this.seconds === 0) video.poster = thumb;
        // The speed that the guest has chosen would end with the address.
        video.defaultPlaybackRate = video.playbackRate;
        video.src = streams.mp4;
        if (this.isPlaying) this.play();
    }

    /** Goes on where the former address has ended. */
    resume() {
        if (this.seconds > 0) this.video.currentTime = this.seconds;
        this.isRenewing = false;
        this.changed();
    }

    /** After the address has failed. */
    async recover() {
        if (!this.video.hasAttribute("src")) return;
        if (Date.now() - this.renewedAt < YOUNG) this.fail("unplayable");
        else await this.fetchAgain();
    }

    /** Fetches a new address and goes on with it. */
    async fetchAgain() {
        this.fault = null;
        this.isRenewing = true;
        this.changed();
        try {
            const answer = await this.renew();
            this.renewedAt = Date.now();
            if (answer) this.use(answer);
            else this.changed();
        } catch (error) {
            if (!(error instanceof ApiError)) throw error;
            this.fail(error);
        }
    }

    /** Tries again after a passing fault. */
    async retry() {
        if (this.fault instanceof ApiError) await this.fetchAgain();
    }

    /** @param {ApiError | "unplayable"} fault */
    fail(fault) {
        this.fault = fault;
        this.isRenewing = false;
        this.changed();
    }

    /** Plays no more and leaves the network to the next one. */
    end() {
        this.changed = () => {};
        this.video.removeAttribute("src");
        this.video.load();
    }
}

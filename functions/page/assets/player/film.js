// A film. Its address lives for some minutes: when it has died, the player fetches a new one and goes on at the same second.

import { ApiError } from "../api.js";
import { tracksOf } from "../captions.js";
import { element, fill } from "../dom.js";

/** The age at which an address may have died, in milliseconds. A younger one that fails does so for another reason. */
const YOUNG = 30_000;

/**
 * @typedef {object} Film
 * @property {string} address of the mp4
 * @property {string | null} thumb
 * @property {{ width: number, height: number } | null} dimensions
 * @property {import("../captions.js").Captions[]} captions
 *
 * @typedef {{ rate: number }} Speed how fast films play; one for all of a page
 */

/**
 * A film as the API shows it; null until it can be played.
 * @param {{ streams?: { mp4?: string | null } | null, thumb?: string | null, dimensions?: { width: number, height: number } | null,
 *   captions?: import("../captions.js").Captions[] } | null} video
 * @returns {Film | null}
 */
export function filmOf(video) {
    const address = video?.streams?.mp4;
    return address ? { address, thumb: video.thumb || null, dimensions: video.dimensions ?? null, captions: video.captions ?? [] } : null;
}

/** Why something has failed that may succeed later. @param {ApiError} error @returns {"offline" | "busy"} */
export const faultOf = ({ status }) => (status === 0 ? "offline" : "busy");

/** The player of one film. Its owner ends it. */
export class FilmPlayer {
    /**
     * @param {Film} film
     * @param {() => Promise<Film | null>} renew reads the film with a new address; null if it cannot be played any more
     * @param {Speed} speed
     * @param {{ changed: () => void, sped: (rate: number) => void }} told `changed` is called when the player shows something else, `sped` when
     *   the viewer has chosen another speed in the browser's own controls
     */
    constructor(film, renew, speed, { changed, sped }) {
        this.renew = renew;
        this.speed = speed;
        this.changed = changed;
        this.sped = sped;
        /** Where the viewer is, in seconds. */
        this.seconds = 0;
        /** Whether the viewer wants it to play. */
        this.isPlaying = false;
        this.hasEnded = false;
        /** Whether a new address is fetched or tried. */
        this.isRenewing = false;
        /** When the last new address came. */
        this.renewedAt = -Infinity;
        /** Why it does not play. @type {ApiError | "unplayable" | null} */
        this.fault = null;
        /** Whether its owner has ended it. */
        this.isOver = false;
        this.video = element("video", {
            controls: true, preload: "metadata", playsinline: true, tabindex: 0, controlslist: "nodownload noremoteplayback", disableremoteplayback: true,
            ontimeupdate: () => this.note(), onseeking: () => this.note(),
            onplay: () => this.follow(true), onpause: () => this.follow(false), onended: () => this.follow(false),
            onratechange: () => this.noteSpeed(), onloadedmetadata: () => this.resume(), onerror: () => this.recover(),
        });
        this.adoptSpeed();
        this.use(film);
    }

    /** Whether what the video tells is the viewer's doing: an address that is lost or replaced changes it as well. */
    get isSettled() {
        return !this.isRenewing && !this.video.error;
    }

    note() {
        if (this.isSettled) this.seconds = this.video.currentTime;
    }

    /** The browser's own controls may have a speed as well. */
    noteSpeed() {
        if (this.video.playbackRate !== this.speed.rate) this.sped(this.video.playbackRate);
    }

    /** Plays as fast as the page says. */
    adoptSpeed() {
        // A new address begins with this speed.
        this.video.defaultPlaybackRate = this.speed.rate;
        this.video.playbackRate = this.speed.rate;
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

    /** Winds on, or back. @param {number} seconds */
    skip(seconds) {
        const { video } = this;
        video.currentTime = Math.min(Math.max(video.currentTime + seconds, 0), video.duration || 0);
    }

    /** Lets another film play. */
    pause() {
        this.video.pause();
    }

    play() {
        this.video.play().catch((/** @type {Error} */ error) => {
            // Another address that is loaded, or one that has died, is dealt with where it is noticed.
            if (error.name !== "NotAllowedError") return;
            this.isPlaying = false;
            this.changed();
        });
    }

    /** @param {Film} film */
    use(film) {
        // A new address may come when the viewer has gone on.
        if (this.isOver) return;
        const { video } = this;
        const { address, thumb, dimensions } = film;
        if (dimensions) video.style.setProperty("--shape", String(dimensions.width / dimensions.height));
        if (thumb && this.seconds === 0) video.poster = thumb;
        fill(video, tracksOf(film));
        // A new address ends the speed of which the browser has yet to tell.
        this.noteSpeed();
        video.src = address;
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
            const film = await this.renew();
            this.renewedAt = Date.now();
            if (film) this.use(film);
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
        this.noteSpeed();
        this.changed = this.sped = () => {};
        this.isOver = true;
        this.video.removeAttribute("src");
        this.video.load();
    }
}

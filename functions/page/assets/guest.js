// The page of a guest: a person without an account whom a manager has sent a link, and who watches a candidate's answers.

import { Api, ApiError } from "./api.js";
import { element, fill, showScreen } from "./dom.js";
import { dateText, languageOf, loadTexts } from "./language.js";
import { languageChoice } from "./languages.js";
import { leadToAccessibility, segmentsOf } from "./links.js";
import { remembered } from "./local.js";
import { loadStyle } from "./style.js";
import { showEnd, showOver, showWelcome } from "./guest/ends.js";
import { showQuestion } from "./guest/question.js";
import { askedIn, placeIn, screenOf } from "./guest/state.js";
import { faultOf } from "./player/film.js";
import { Playback } from "./player/playback.js";

/**
 * @typedef {import("./guest/state.js").Screen} Screen
 *
 * @typedef {object} View a screen as it is shown
 * @property {string} title
 * @property {import("./dom.js").Child[]} content
 * @property {() => void} [update] called when something has changed
 */

/** @type {Record<Screen["name"], (guest: Guest, screen: Screen) => View>} */
const SCREENS = { welcome: showWelcome, question: showQuestion, end: showEnd, over: showOver };
/** How often the page tries again by itself what failed for a passing reason, in milliseconds. */
const RETRY = 15_000;
/** How long after an opening of the link the next one is told, in milliseconds. */
const NEXT_OPENING = 600_000;
/** The pause after a failed one, in milliseconds: a key that is held down is many presses. */
const OPENING_PAUSE = 5_000;

const [main, header, foot] = ["screen", "header", "contact"].map((id) => /** @type {HTMLElement} */ (document.getElementById(id)));

/** The page of one guest. */
export class Guest {
    /** @param {string} [key] that of the link, if it is whole */
    constructor(key) {
        this.api = new Api(document.body.dataset.api ?? "", key, "GuestKey");
        /** @type {import("./guest/state.js").Model} */
        this.model = { isWhole: key !== undefined, ended: null, fault: null, review: null, place: 0 };
        /** @type {import("./language.js").Texts} */
        this.texts = {};
        /** The films of the question that is shown. @type {Playback | null} */
        this.playback = null;
        /** The question that they are of, with the kind of its answer. */
        this.playing = "";
        /** @type {import("./player/film.js").Speed} */
        this.speed = { rate: 1 };
        /** When the service was told that the link was opened. */
        this.openedAt = -Infinity;
        /** @type {View | null} */
        this.view = null;
        this.shown = "";
        this.isReading = false;
    }

    /** Shows the page, and follows the guest. */
    async start() {
        loadStyle();
        await this.speak();
        fill(main, element("p", { class: "hint" }, this.texts.loading));
        if (this.model.isWhole) await this.load();
        this.show();
        addEventListener("popstate", () => this.show());
        addEventListener("online", () => this.retry());
        setInterval(() => this.retry(), RETRY);
        addEventListener("keydown", (event) => this.follow(event));
        for (const press of ["click", "keydown"]) addEventListener(press, () => this.noteOpening(), { capture: true });
    }

    /**
     * Tells the service that a person has opened the link: programs that check links in mails load the page too, but press nothing
     * in it.
     */
    async noteOpening() {
        if (!this.model.review || Date.now() - this.openedAt < NEXT_OPENING) return;
        this.openedAt = Date.now();
        try {
            await this.api.send("POST", "/review/opening/", undefined, { keepalive: true });
        } catch (error) {
            if (!(error instanceof ApiError)) throw error;
            // A press soon afterwards tells it, if another try can succeed.
            if (error.isTransient) this.openedAt = Date.now() - NEXT_OPENING + OPENING_PAUSE;
        }
    }

    /** Loads the texts of the language. */
    async speak() {
        const language = languageOf(remembered("language"));
        this.texts = await loadTexts(language, "guest/");
        document.documentElement.lang = language;
        this.shown = "";
    }

    /**
     * Reads the answers, with addresses of their videos that live for some minutes.
     * @param {number} [patience] how long to try, in milliseconds
     */
    async read(patience) {
        const { model } = this;
        try {
            model.review = await this.api.get("/review/", patience);
            model.ended = null;
        } catch (error) {
            // Only this refusal is about the key. Whatever else happens, the link may be good.
            if (error instanceof ApiError && error.status === 401) {
                model.ended = error.body;
                model.review = null;
            }
            throw error;
        }
    }

    /** Reads the answers, and notes what has kept the page from doing so. @param {number} [patience] */
    async load(patience) {
        this.isReading = true;
        try {
            await this.read(patience);
            this.model.fault = null;
        } catch (error) {
            if (!(error instanceof ApiError)) throw error;
            this.model.fault = faultOf(error);
        } finally {
            this.isReading = false;
        }
    }

    /** Tries again what failed for a passing reason. */
    async retry() {
        const { review, ended, isWhole } = this.model;
        if (this.isReading || ended || !isWhole) return;
        if (review) return this.playback?.retry();
        await this.load(0);
        this.show();
    }

    /** Leads to a question or an end; back leads here again. @param {number} place */
    go(place) {
        history.pushState(null, "", place === 0 ? location.pathname : `#${place}`);
        this.show();
    }

    /** Shows the place that the address names. */
    show() {
        this.model.place = placeIn(location.hash, this.model.review);
        this.render();
    }

    /** Arrow keys lead back and on, unless they do something else where the focus is. @param {KeyboardEvent} event */
    follow(event) {
        const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
        const { name, last } = screenOf(this.model);
        const isTaken = event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || document.fullscreenElement;
        if (!step || isTaken || name === "over" || /** @type {Element} */ (event.target).closest("video, select, dialog")) return;
        const place = this.model.place + step;
        if (place >= 0 && place <= last) this.go(place);
    }

    /** The films of a question, which outlive another language. @param {number} number that of the question */
    playbackOf(number) {
        if (this.playback) return this.playback;
        const { model } = this;
        const askedNow = () => model.review && askedIn(model.review, number);
        const renew = async () => {
            await this.read();
            return askedNow();
        };
        const asked = /** @type {import("./player/playback.js").Asked} */ (askedNow());
        this.playback = new Playback(asked, renew, this.speed, () => this.render());
        return this.playback;
    }

    /** Shows the screen for the state, or updates the one that is shown. */
    render() {
        const { model } = this;
        const screen = screenOf(model);
        const kind = screen.name === "question" && model.review ? askedIn(model.review, screen.number).answer.kind : "";
        const key = JSON.stringify([screen, kind]);
        main.dataset.screen = screen.name;
        if (key === this.shown) {
            this.view?.update?.();
            return;
        }
        this.shown = key;
        document.body.classList.toggle("watched", screen.name === "question");
        // Another language shows the same answer, which goes on playing.
        const playing = `${screen.name} ${screen.number} ${kind}`;
        if (playing !== this.playing) {
            this.playback?.end();
            this.playback = null;
            this.playing = playing;
        }
        this.view = SCREENS[screen.name](this, screen);
        this.renderFrame(screen);
        showScreen(main, this.view.title, ...this.view.content);
        if (model.review) document.title = `${this.view.title} · ${this.name ?? model.review.project.name}`;
        this.view.update?.();
    }

    /** What surrounds every screen: whose interview it is, the language, and until when the link works. @param {Screen} screen */
    renderFrame(screen) {
        const { review } = this.model;
        const { name: company, logo } = (review ?? this.model.ended)?.company ?? {};
        const names = review ? [this.name ?? company, review.project.name] : null;
        const name = element("p", { class: "name", title: names?.join(" · ") }, names ? [element("bdi", {}, names[0]), " · ", element("bdi", {}, names[1])] : (company ?? this.texts.title));
        fill(header, logo && element("img", { class: "logo", src: logo, alt: company }), name, languageChoice(this.texts.language, () => this.change()));
        // Guests do not know the identifier of the company.
        leadToAccessibility(this.texts.accessibility);
        fill(foot, screen.name === "question" && `${this.texts.until}: ${this.end}`);
    }

    /** Shows the page in another language, and leaves the focus where it is. */
    async change() {
        await this.speak();
        this.render();
        header.querySelector("select")?.focus();
    }

    /** The name of the candidate; undefined if it is hidden. */
    get name() {
        const candidate = this.model.review?.candidate;
        return candidate ? `${candidate.first_name} ${candidate.last_name}` : undefined;
    }

    /** Until when the link works. */
    get end() {
        return this.dateText(this.model.review?.expires_at ?? "");
    }

    /** A moment in the language of the page, as the guest's region writes it. @param {string} moment */
    dateText(moment) {
        const { lang } = document.documentElement;
        return dateText(moment, navigator.languages.find((one) => one.startsWith(lang)) ?? lang);
    }
}

const [, key, ...rest] = segmentsOf(location.pathname);
new Guest(rest.length === 0 ? key : undefined).start();

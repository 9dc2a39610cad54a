// The page of staff: they sign in, watch what candidates have answered, and judge it.

import { Api, ApiError } from "./api.js";
import { button, element, fill, showScreen } from "./dom.js";
import { dateText, languageOf, loadTexts, refusalText } from "./language.js";
import { languageChoice } from "./languages.js";
import { leadToAccessibility } from "./links.js";
import { remembered } from "./local.js";
import { loadStyle } from "./style.js";
import { addressAskedFor, homeOf, placeOf } from "./staff/address.js";
import { AGAIN, SIGNED_IN, showOver, showRefused, showSignIn } from "./staff/ends.js";
import { readHome, showHome } from "./staff/home.js";
import { readInterview, showInterview } from "./staff/interview.js";
import { Notice } from "./staff/notice.js";
import { readProject, showProject } from "./staff/project.js";
import { Session } from "./staff/session.js";

/**
 * @typedef {"loading" | "signIn" | "home" | "project" | "result" | "refused" | "over"} Screen
 * @typedef {"wrong" | "gone" | "company" | "candidate" | "signedIn" | "offline" | "busy"} Reason why nothing is shown
 *
 * @typedef {object} View a screen as it is shown
 * @property {string} title
 * @property {import("./dom.js").Child[]} content
 * @property {() => void} [update] called when something has changed
 */

/** @type {Record<Exclude<Screen, "loading">, (app: Staff) => View>} */
const SCREENS = { signIn: showSignIn, home: showHome, project: showProject, result: showInterview, refused: showRefused, over: showOver };
/** What the space bar does by itself. */
const TAKES_SPACE = "input, textarea, select, button, a, summary, video, dialog, [tabindex='0']";

const [main, header] = ["screen", "header"].map((id) => /** @type {HTMLElement} */ (document.getElementById(id)));

/** The page of one member of the staff. */
export class Staff {
    /** @param {import("./staff/address.js").Place} place */
    constructor(place) {
        this.place = place;
        this.api = new Api(document.body.dataset.api ?? "");
        this.session = new Session(this.api, place.company);
        this.notice = new Notice(this);
        this.model = {
            /** @type {Screen} */ screen: "loading",
            /** @type {Reason} */ reason: "wrong",
            /** @type {import("./staff/home.js").Home | null} */ home: null,
            /** @type {any} */ project: null,
            /** The name that was typed to sign in. */ username: "",
            /** The address to sign in by the provider of the company. @type {string | null} */ signInUrl: null,
            /** @type {import("./staff/interview.js").Interview | null} */ interview: null,
        };
        /** @type {import("./language.js").Texts} */
        this.texts = {};
        /** @type {View | null} */
        this.view = null;
        this.shown = "";
        /** Whether the reader knows what they leave. */
        this.isLeaving = false;
        this.problem = element("p", { class: "problem", role: "alert" });
    }

    /** The evaluation that is typed in this window. */
    get draft() {
        return this.model.interview?.draft ?? null;
    }

    /** Whether something that was typed would be lost with the page. */
    get isUnsaved() {
        return Boolean(this.draft?.isUnsaved || this.model.interview?.vetoText);
    }

    /** Shows the page, and follows the reader. */
    async start() {
        loadStyle();
        document.body.classList.add("staff");
        await this.speak();
        fill(main, element("p", { class: "hint" }, this.texts.loading));
        await this.load();
        addEventListener("hashchange", () => this.attempt(() => this.turn()));
        addEventListener("keydown", (event) => this.follow(event));
        addEventListener("click", (event) => this.leaveBy(event));
        addEventListener("online", () => this.retry());
        addEventListener("pagehide", () => this.draft?.save());
        // The browser's way back may show the page as it was before somebody signed out.
        addEventListener("pageshow", (event) => {
            this.isLeaving = false;
            if (event.persisted && !this.isUnsaved) location.reload();
        });
        document.addEventListener("visibilitychange", () => document.hidden && this.draft?.save());
        addEventListener("beforeunload", (event) => {
            if (this.isLeaving || !this.isUnsaved) return;
            this.draft?.save();
            event.preventDefault();
        });
        this.session.onSignIn(() => this.notice.look());
        addEventListener("focus", () => this.notice.check());
    }

    /** Loads the texts of the language. */
    async speak() {
        const language = languageOf(remembered("language"));
        this.texts = await loadTexts(language, "staff/");
        document.documentElement.lang = language;
        this.shown = "";
    }

    /** Reads what the address names, or why it is not shown. */
    async load() {
        const { model, place } = this;
        try {
            if (place.kind === "wrong") return this.end("wrong");
            if (place.kind === "refused") return await this.turnToSignIn("refused");
            if (place.kind === "home" && isAskedFor(AGAIN)) return await this.turnToSignIn();
            if (place.kind === "home" && isAskedFor(SIGNED_IN) && await this.session.announce()) return this.end("signedIn");
            if (place.kind === "home") model.home = await readHome(this);
            if (place.kind === "project") model.project = await readProject(this);
            if (place.kind === "result") model.interview = await readInterview(this);
            this.turnTo(place.kind);
        } catch (error) {
            if (!(error instanceof ApiError)) throw error;
            await this.explain(error);
        }
    }

    /** Shows why the address shows nothing. @param {ApiError} error */
    async explain(error) {
        if (error.status === 401) return this.turnToSignIn();
        if (!error.isAboutAccess) return this.end(error.status === 0 ? "offline" : "busy");
        try {
            const reason = await this.session.explain();
            return reason === "signIn" ? await this.turnToSignIn() : this.end(reason);
        } catch (problem) {
            if (!(problem instanceof ApiError)) throw problem;
            this.end(problem.status === 0 ? "offline" : "busy");
        }
    }

    /** @param {Screen} screen */
    turnTo(screen) {
        this.model.screen = screen;
        this.shown = "";
        this.render();
    }

    /** Shows a screen that offers the provider of the company, if it has one. @param {"signIn" | "refused"} [screen] */
    async turnToSignIn(screen = "signIn") {
        if (this.place.company) this.model.signInUrl = await this.session.readSignInUrl();
        this.turnTo(screen);
    }

    /** @param {Reason} reason */
    end(reason) {
        this.model.reason = reason;
        this.turnTo("over");
    }

    /** Does something that may fail, and says so if it does. @param {() => unknown} action */
    async attempt(action) {
        fill(this.problem);
        try {
            await action();
        } catch (error) {
            if (!(error instanceof ApiError)) throw error;
            if (error.status === 401 && !this.model.interview) return this.turnToSignIn();
            if (error.status === 401) return this.notice.note(error);
            fill(this.problem, this.refusalText(error));
            this.problem.scrollIntoView({ block: "nearest" });
        }
    }

    /** @param {ApiError} error */
    refusalText(error) {
        return refusalText(error, this.texts);
    }

    /** Leads to a question or to the evaluation; back leads here again. @param {number} number */
    goTo(number) {
        location.hash = String(number);
    }

    /** Shows the question that the address names. */
    async turn() {
        try {
            await this.model.interview?.turn();
        } finally {
            this.render();
        }
    }

    /** Reads again what may have changed in the interview. Returns what has kept it from that. */
    async reread() {
        try {
            await this.model.interview?.reread();
        } catch (error) {
            if (!(error instanceof ApiError)) throw error;
            this.notice.note(error);
            return error.status === 0 ? "offline" : "busy";
        }
        this.render();
        return null;
    }

    /** Tries again what failed for a passing reason. */
    retry() {
        if (this.model.screen === "over" && ["offline", "busy"].includes(this.model.reason)) return this.load();
        this.draft?.save();
        return this.model.interview?.playback?.retry();
    }

    /** The space bar plays and pauses, unless it does something else where the focus is. @param {KeyboardEvent} event */
    follow(event) {
        const answer = this.model.interview?.playback?.answer;
        const isTaken = event.altKey || event.ctrlKey || event.metaKey || event.shiftKey;
        if (event.key !== " " || !answer || isTaken || /** @type {Element} */ (event.target).closest(TAKES_SPACE)) return;
        event.preventDefault();
        answer.toggle();
    }

    /** Saves what was typed before a link of this page is followed. @param {MouseEvent} event */
    async leaveBy(event) {
        const link = /** @type {Element} */ (event.target).closest?.("a[href]");
        const isElsewhere = event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || link?.hasAttribute("target");
        if (!(link instanceof HTMLAnchorElement) || isElsewhere || !this.isUnsaved) return;
        event.preventDefault();
        if (!(await this.mayLeave(this.texts.leaveUnsaved))) return;
        this.isLeaving = true;
        location.assign(link.href);
    }

    /** Saves what was typed. Returns whether nothing is left, or the reader wants to lose it. @param {string} question asks whether they do */
    async mayLeave(question) {
        if (this.isUnsaved) await this.draft?.save();
        // Not all browsers ask by themselves.
        return !this.isUnsaved || confirm(question);
    }

    /** Ends the session, after what was typed is saved. */
    async signOut() {
        if (!(await this.mayLeave(this.texts.signOutUnsaved))) return;
        await this.session.end();
        this.isLeaving = true;
        location.replace(homeOf(this.place.company));
    }

    /** Shows the screen for the state, or updates the one that is shown. */
    render() {
        const { screen } = this.model;
        if (screen === "loading") return;
        main.dataset.screen = screen;
        if (this.shown !== screen) {
            this.shown = screen;
            this.renderFrame();
            this.view = SCREENS[screen](this);
            showScreen(main, this.view.title, this.notice.whole, this.problem, ...this.view.content);
            document.title = `${this.view.title} · ${this.texts.title}`;
        }
        this.notice.update();
        this.view?.update?.();
    }

    /** What surrounds every screen: the way home, the language, and the way out. */
    renderFrame() {
        const { company } = this.place;
        const { screen, reason } = this.model;
        const isSignedIn = !["signIn", "refused"].includes(screen) && !(screen === "over" && ["wrong", "offline", "busy"].includes(reason));
        const name = company ? element("a", { class: "name", href: homeOf(company), title: this.texts.home.title }, element("bdi", {}, company)) : element("p", { class: "name" }, this.texts.title);
        leadToAccessibility(this.texts.accessibility, company);
        fill(header, name, languageChoice(this.texts.language, () => this.change()), isSignedIn && button(this.texts.signOut, () => this.attempt(() => this.signOut()), { class: "link" }));
    }

    /** Shows the page in another language, and leaves the focus where it is. */
    async change() {
        await this.speak();
        this.render();
        header.querySelector("select")?.focus();
    }

    /** A moment in the language of the page, as the reader's region writes it. @param {string} moment */
    dateText(moment) {
        const { lang } = document.documentElement;
        return dateText(moment, navigator.languages.find((one) => one.startsWith(lang)) ?? lang);
    }
}

/** Whether the query of the address has a name. @param {string} name */
const isAskedFor = (name) => new URLSearchParams(location.search).has(name);

const asked = addressAskedFor(location.search);
// It shows the form as well, and what was asked for after it.
if (asked) location.replace(asked);
else new Staff(placeOf(location)).start();

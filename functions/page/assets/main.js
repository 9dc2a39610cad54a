// The page: loads what the service knows, shows the screen for it, and follows the candidate.

import { Access } from "./access.js";
import { Api, ApiError } from "./api.js";
import { element, fill, showScreen } from "./dom.js";
import { Drafts } from "./drafts.js";
import { renderFrame } from "./frame.js";
import { Help } from "./help.js";
import { forgetInterview, storeName } from "./kept.js";
import { languageOf, loadTexts, refusalText } from "./language.js";
import { segmentsOf } from "./links.js";
import { remembered } from "./local.js";
import { Queue } from "./queue.js";
import { Devices } from "./recorder.js";
import { isUnfinished, screenOf } from "./state.js";
import { loadStyle } from "./style.js";
import { Turn } from "./turn.js";
import { showAddress } from "./screens/address.js";
import { deviceProblem, showCheck } from "./screens/check.js";
import { showComplete } from "./screens/complete.js";
import { showConnect } from "./screens/connect.js";
import { showDone, showOver } from "./screens/over.js";
import { showLogin } from "./screens/login.js";
import { showOverview } from "./screens/overview.js";
import { showPassword } from "./screens/password.js";
import { showPractice } from "./screens/practice.js";
import { showPrepare, showRecord } from "./screens/record.js";
import { showQuestion } from "./screens/question.js";
import { showReview } from "./screens/review.js";
import { showSending } from "./screens/sending.js";
import { showWelcome } from "./screens/welcome.js";
import { showWrite } from "./screens/write.js";

/**
 * @typedef {import("./state.js").Screen} Screen
 * @typedef {import("./state.js").Step} Step
 * @typedef {import("./dom.js").Child} Child
 *
 * @typedef {object} View a screen as it is shown
 * @property {string} title
 * @property {Child[]} content
 * @property {() => void} [update] called when something has changed, and each second
 * @property {() => void} [leave] called before another screen is shown
 */

/** @type {Record<Screen["name"], (app: App, screen: Screen) => View>} */
const SCREENS = {
    login: showLogin, password: showPassword, address: showAddress, welcome: showWelcome, check: showCheck, practice: showPractice,
    overview: showOverview, question: showQuestion, connect: showConnect, prepare: showPrepare, record: showRecord, review: showReview,
    write: showWrite, complete: showComplete, sending: showSending, done: showDone, over: showOver,
};

/** The screens with a picture of the camera. On all others, camera and microphone are off. */
const WITH_DEVICES = ["check", "practice", "connect", "prepare", "record"];
/** How often the page asks for the state while something is only known to the service, in milliseconds. */
const REFRESH = 30_000;

const main = /** @type {HTMLElement} */ (document.getElementById("screen"));

/** The page of one candidate. */
export class App {
    /** @param {import("./state.js").Link} link */
    constructor(link) {
        /** The key that a candidate was sent. Once it opens nothing, it still tells why. */
        this.key = link.kind === "register" || link.kind === "interview" ? link.key : undefined;
        this.api = new Api(document.body.dataset.api ?? "", this.key);
        this.access = new Access(this);
        this.devices = new Devices();
        /** @type {Queue | null} */
        this.queue = null;
        /** @type {Turn | null} */
        this.turn = null;
        this.drafts = new Drafts(this);
        this.help = new Help(this);
        /** How many takes this page has begun. */
        this.begun = 0;
        /** @type {import("./state.js").Model} */
        this.model = {
            link, candidate: null, ended: null, company: null, holder: null, keyKind: null, interview: null, questions: [], takes: [], drafts: [], isLoaded: false, isBusy: false, isLoggedOut: false, isOtherWindow: false,
            step: { name: "welcome" }, now: Date.now(),
        };
        /** @type {import("./types.js").LegalText[]} */
        this.legal = [];
        /** What a screen tells the next one, such as why a recording has ended. @type {string} */
        this.notice = "";
        /** The recording that the next screen plays. @type {Blob | null} */
        this.recorded = null;
        /** @type {import("./language.js").Texts} */
        this.texts = {};
        /** @type {View | null} */
        this.view = null;
        this.shown = "";
        /** When the state was last read. */
        this.followed = 0;
        /** Whether the candidate has logged out. */
        this.isLeaving = false;
        this.problem = element("p", { class: "problem", role: "alert" });
    }

    /**
     * Turns on camera and microphone for the screen that is shown. Returns whether they are on and the screen is still there: the
     * browser may ask for permission meanwhile.
     * @param {Element} problem where to say what is wrong
     */
    async turnOn(problem) {
        const { view } = this;
        try {
            if (!this.devices.isOpen) await this.devices.open();
        } catch (error) {
            problem.textContent = await deviceProblem(this, error);
            return false;
        }
        if (this.view !== view && !WITH_DEVICES.includes(this.screen)) this.devices.close();
        return this.view === view;
    }

    /** The name of the screen that is shown. */
    get screen() {
        return main.dataset.screen ?? "";
    }

    /** Shows the page, and keeps it up to date. */
    async start() {
        loadStyle();
        await this.speak();
        fill(main, element("p", { class: "hint" }, this.texts.loading));
        await this.attempt(() => this.access.load());
        setInterval(() => this.tick(), 1000);
        addEventListener("beforeunload", (event) => {
            if (this.isLeaving) return;
            if (!this.drafts.areSaved || this.queue?.isUnsent || this.model.step.name === "record") event.preventDefault();
        });
        for (const press of ["click", "keydown"]) addEventListener(press, () => this.access.noteOpening(), { capture: true });
        addEventListener("online", () => (this.model.isLoaded ? this.render() : this.refresh()));
        addEventListener("offline", () => this.render());
    }

    /** Loads the texts of the language. */
    async speak() {
        const chosen = remembered("language");
        const { candidate } = this.model;
        const language = languageOf(chosen, candidate?.language ?? candidate?.project.support_lang);
        this.texts = await loadTexts(language);
        document.documentElement.lang = language;
        this.shown = "";
    }

    /** Reads the state of the interview, and what it needs in this state. @returns {Promise<void>} */
    async follow() {
        const { model, api } = this;
        const { candidate } = model;
        this.followed = Date.now();
        if (!candidate || candidate.project.interview_platform === "external") return;
        const { begun } = this;
        const interview = await this.readInterview(candidate);
        const status = interview?.status ?? candidate.status;
        const questions = status === "interviewing" ? await api.list(`${candidate.project.resource_uri}questions/`) : model.questions;
        // What was read while a take was begun may know neither the take nor its question.
        if (begun !== this.begun) return this.follow();
        model.interview = interview;
        model.questions = questions;
        candidate.status = status;
        if (candidate.status === "invited" || candidate.status === "confirmed") await this.readLegal(candidate);
        if (candidate.status === "interviewing" && !this.queue && !model.isOtherWindow) await this.openQueue(candidate);
        if (interview && !model.isOtherWindow) this.drafts.recall(interview.answers);
        if (interview?.closes_at) await this.queue?.noteClose(interview.closes_at);
        if (candidate.status === "interviewed") await this.clear(candidate);
    }

    /** Deletes what this window has recorded, after the interview. @param {import("./types.js").Candidate} candidate */
    async clear(candidate) {
        this.drafts.clear();
        if (!this.queue) return;
        await this.queue.clear();
        await forgetInterview(candidate.resource_uri);
    }

    /** A project without questions has no interview. @param {import("./types.js").Candidate} candidate */
    async readInterview(candidate) {
        try {
            return await this.api.interview(candidate.resource_uri);
        } catch (error) {
            if (!(error instanceof ApiError) || error.status !== 404) throw error;
            return null;
        }
    }

    /** @param {import("./types.js").Candidate} candidate */
    async readLegal(candidate) {
        const [current, accepted] = await Promise.all([
            this.api.list(`${candidate.company.resource_uri}legal/?current=true`),
            this.api.list(`${candidate.resource_uri}consents/`),
        ]);
        const isAccepted = (/** @type {any} */ text) =>
            accepted.some(({ kind, version }) => kind === text.kind && version === text.version);
        this.legal = current.filter((text) => !isAccepted(text));
    }

    /** Takes over the recordings that this browser has, in one window. @param {import("./types.js").Candidate} candidate */
    async openQueue(candidate) {
        this.turn ??= new Turn(storeName(candidate.resource_uri), {
            isBusy: () => ["connect", "record"].includes(this.screen) || Boolean(this.queue?.isUnsent && !this.queue.store.isDurable),
            save: () => this.drafts.flush(),
            gained: () => this.turnTo(true),
            lost: () => this.turnTo(false),
        });
        this.model.isOtherWindow = !(await this.turn.take());
        if (this.model.isOtherWindow) return;
        const queue = await Queue.open(candidate.resource_uri, this.api);
        this.queue = queue;
        this.model.takes = queue.takes;
        const hasPassed = (/** @type {string} */ time) => Date.parse(time) <= this.api.now();
        for (const take of queue.takes) {
            const isMissed = isUnfinished(take) && take.slices.length === 0 && hasPassed(take.record.recordUntil);
            // A file that an earlier page was reading has to be chosen again.
            const isPartOfFile = take.record.source === "file" && !take.record.isEnded;
            // Refused before the interview was reopened, which gives another take.
            const isOfFormer = take.record.refusal && Date.parse(take.record.begunAt) < Date.parse(this.model.interview?.started_at ?? "");
            if (isMissed || isPartOfFile || isOfFormer) await queue.forget(take.record.uri);
        }
        queue.addEventListener("change", () => this.render());
        queue.settle = () => this.refresh();
        queue.addEventListener("loggedout", () => {
            this.access.lose();
            this.render();
        });
        queue.run();
    }

    /** Goes on with the interview in this window, or leaves it to another one, which reads what this one has stored. @param {boolean} isOurs */
    turnTo(isOurs) {
        this.model.isOtherWindow = !isOurs;
        if (isOurs) return this.refresh();
        this.queue?.close();
        this.queue = null;
        this.drafts.clear();
        this.render();
    }

    /** Goes to another screen of the same state. @param {Step["name"]} name @param {string} [question] @param {boolean} [isCounted] */
    go(name, question, isCounted) {
        this.model.step = { name, question, isCounted };
        this.problem.textContent = "";
        this.render();
    }

    /**
     * Does something that may fail, and says so if it does. Returns whether it has succeeded.
     * @param {() => Promise<unknown>} action
     */
    async attempt(action) {
        this.problem.textContent = "";
        try {
            await action();
            this.render();
            return true;
        } catch (error) {
            if (!(error instanceof ApiError)) {
                this.problem.textContent = this.texts.refusals.other;
                throw error;
            }
            const unread = error.isAboutAccess ? await this.access.lose() : null;
            this.model.isBusy = (unread ?? error).status !== 0;
            this.problem.textContent = refusalText(unread ?? error, this.texts);
            this.render();
            // The button that was pressed may be far below.
            this.problem.scrollIntoView({ block: "nearest" });
            return false;
        }
    }

    /**
     * Goes to another screen when something has been done, unless the candidate has left the one that is shown.
     * @param {Promise<unknown>} done
     * @param {Step["name"]} name
     * @param {string} [question]
     */
    async goAfter(done, name, question) {
        const { view } = this;
        await done;
        if (this.view === view) this.go(name, question);
    }

    /** Reads the state again; without a connection, the former one stays. */
    async refresh() {
        try {
            await (this.model.isLoaded ? this.follow() : this.access.load());
        } catch (error) {
            if (!(error instanceof ApiError)) throw error;
            if (error.isAboutAccess) await this.access.lose();
        }
        this.render();
    }

    /** Shows the screen for the state, or updates the one that is shown. */
    render() {
        const { model } = this;
        model.now = this.api.now();
        model.takes = this.queue?.takes ?? [];
        model.drafts = this.drafts.list;
        const screen = screenOf(model);
        const key = JSON.stringify([screen.name, screen.reason, screen.question]);
        main.dataset.screen = screen.name;
        renderFrame(this);
        if (key === this.shown) {
            this.view?.update?.();
            this.help.update();
            return;
        }
        this.shown = key;
        this.view?.leave?.();
        if (!WITH_DEVICES.includes(screen.name)) this.devices.close();
        this.view = SCREENS[screen.name](this, screen);
        showScreen(main, this.view.title, this.problem, ...this.view.content, this.help.whole);
        this.view?.update?.();
        this.help.update();
    }

    /** Seconds until the end of the interview; null without one. */
    secondsLeft() {
        const { interview } = this.model;
        if (interview?.status !== "interviewing" || !interview.ends_at) return null;
        return Math.max((Date.parse(interview.ends_at) - this.api.now()) / 1000, 0);
    }

    tick() {
        const isWatched = this.model.interview?.status === "interviewing" && this.model.step.name !== "record";
        if (isWatched && Date.now() - this.followed > REFRESH) this.refresh();
        renderFrame(this);
        this.view?.update?.();
        // Screens end with the time of the interview. What was typed until then is taken for another minute.
        if (this.secondsLeft() === 0) {
            this.drafts.each((draft) => draft.send());
            this.render();
        }
    }

    /** What the former screen has left to tell, once. */
    takeNotice() {
        const { notice } = this;
        this.notice = "";
        return notice;
    }
}

/** What an address of the page leads to. @param {string} path @returns {import("./state.js").Link} */
export function linkOf(path) {
    const [kind, first, second, ...rest] = segmentsOf(path);
    if (first && rest.length === 0) {
        if (kind === "interview") return second ? { kind, company: first, key: second } : { kind: "login", company: first };
        if (!second && (kind === "register" || kind === "activate")) return { kind, key: first };
        if (!second && kind === "reset-password") return { kind: "reset", key: first };
        if (!second && kind === "confirm-email") return { kind: "confirm", key: first };
        if (!second && kind === "restore-email") return { kind: "restore", key: first };
    }
    return { kind: "wrong" };
}

new App(linkOf(location.pathname)).start();

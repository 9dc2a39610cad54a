// One interview: the candidate, their answers, and the reader's evaluation.

import { ApiError } from "../api.js";
import { element, fill } from "../dom.js";
import { filmOf } from "../player/film.js";
import { Playback } from "../player/playback.js";
import { candidateIn, projectIn } from "./address.js";
import { Draft } from "./draft.js";
import { showEvaluation } from "./evaluation.js";
import { showHead } from "./head.js";
import { helpOf } from "./help.js";
import { showQuestion } from "./question.js";

/** @typedef {import("../staff.js").Staff} Staff */

/** The states in which a candidate is still to answer. */
const BEFORE = ["new", "invited", "confirmed", "interviewing"];

/** What the API gives; null if the reader may not see it, or if there is none. @template T @param {Promise<T>} promise @returns {Promise<T | null>} */
const orNone = (promise) => promise.catch((error) => {
    if (error instanceof ApiError && (error.status === 403 || error.status === 404)) return null;
    throw error;
});

/** What is known of an interview, and where the reader is in it. */
export class Interview {
    /**
     * @param {Staff} app
     * @param {any} candidate
     * @param {any} interview null if it took place elsewhere
     * @param {any} project null for those with whom only the candidate is shared
     */
    constructor(app, candidate, interview, project) {
        this.app = app;
        this.candidate = candidate;
        this.interview = interview;
        this.project = project;
        /** @type {Draft | null} */
        this.draft = null;
        /** Whether the reader has vetoed the candidate, as far as the page knows. */
        this.hasVetoed = false;
        /** What was typed of a veto. */
        this.vetoText = "";
        /** The question that is shown, from 1; the evaluation comes after the last one. */
        this.number = 1;
        /** The question whose film is read; null if none is. @type {number | null} */
        this.turning = null;
        /** The films of the question that is shown. @type {Playback | null} */
        this.playback = null;
        /** @type {import("../player/film.js").Speed} */
        this.speed = { rate: 1 };
        /** The films that ask questions, by their numbers. @type {Map<number, import("../player/film.js").Film | null>} */
        this.asking = new Map();
    }

    /** The name of the candidate. */
    get name() {
        return `${this.candidate.first_name} ${this.candidate.last_name}`;
    }

    /** The answers that are shown. */
    get answers() {
        const { interview, candidate } = this;
        const answers = interview?.answers ?? [];
        if (BEFORE.includes(candidate.status)) return [];
        const isAny = answers.some((/** @type {any} */ { status, text }) => status || text);
        return isAny || candidate.status === "interviewed" ? answers : [];
    }

    /** What is waited for, or why there is nothing to watch; null if there are answers. @returns {string | null} */
    get waits() {
        const { candidate, interview } = this;
        if (this.answers.length > 0) return null;
        if (candidate.status === "interviewed") return interview ? null : "elsewhere";
        return candidate.status === "interviewing" && interview?.is_reopened ? "reopened" : candidate.status;
    }

    /** What is rated: the questions and criteria of the project. */
    get items() {
        return this.project ? [...this.project.questions, ...this.project.criteria] : [];
    }

    /** Why the reader cannot judge; null if they can. @returns {string | null} */
    get obstacle() {
        const { candidate, interview, project } = this;
        if (!candidate.my_evaluation) return project ? "reader" : "shared";
        if (candidate.status === "interviewed") return null;
        if (interview?.is_reopened) return "reopened";
        return interview?.ended_by_time ? "time" : candidate.status;
    }

    /** Whether the evaluation is shown, in place of a question. */
    get isAtEvaluation() {
        return this.number > this.answers.length;
    }

    /** A question with its answer, as the player shows it. @param {number} number @returns {import("../player/playback.js").Asked} */
    asked(number) {
        const answer = this.answers[number - 1];
        return { text: answer.question_text, film: this.asking.get(number) ?? null, answer: givenOf(answer) };
    }

    /** Goes to the question that the address names, whose film is read first. */
    async turn() {
        const wished = Number(location.hash.slice(1));
        const last = this.answers.length + 1;
        const number = Number.isInteger(wished) && wished >= 1 ? Math.min(wished, last) : 1;
        // Its films go on: nothing shows them anew.
        if (number === this.number && this.playback) return;
        this.number = number;
        this.playback?.end();
        this.playback = null;
        if (this.isAtEvaluation || this.asking.has(number) || !this.videoOf(number)) return;
        this.turning = number;
        this.app.render();
        try {
            await this.readFilm(number);
        } finally {
            if (this.turning === number) this.turning = null;
        }
    }

    /** Whether the question is not shown yet, since its film is read. */
    get isTurning() {
        return this.turning === this.number;
    }

    /** The reference of the film that asks a question; undefined if there is none. @param {number} number @returns {string | undefined} */
    videoOf(number) {
        const { question: reference } = this.answers[number - 1];
        return this.project?.questions.find((/** @type {any} */ one) => one.resource_uri === reference)?.video ?? undefined;
    }

    /** Reads the film that asks a question, if there is one. @param {number} number */
    async readFilm(number) {
        const video = this.videoOf(number);
        if (video) this.asking.set(number, filmOf(await orNone(this.app.api.get(video))));
    }

    /** The films of the question that is shown. */
    films() {
        const { number } = this;
        this.playback ??= new Playback(this.asked(number), () => this.renew(number), this.speed, () => this.app.render());
        return this.playback;
    }

    /** Reads a question with addresses of its films that work. @param {number} number */
    async renew(number) {
        try {
            this.interview = await this.app.api.get(`${this.candidate.resource_uri}interview/`);
            this.asking.clear();
            await this.readFilm(number);
        } catch (error) {
            if (error instanceof ApiError) this.app.notice.note(error);
            throw error;
        }
        return this.asked(number);
    }

    /** Reads again how far the candidate and the answers are. */
    async reread() {
        const { api } = this.app;
        const { resource_uri: address } = this.candidate;
        const kind = this.isAtEvaluation ? null : this.asked(this.number).answer.kind;
        const [candidate, interview] = await Promise.all([api.get(address), orNone(api.get(`${address}interview/`))]);
        this.candidate = candidate;
        this.interview = interview;
        if (kind === null || this.isAtEvaluation || kind === this.asked(this.number).answer.kind) return;
        // An answer that was converted meanwhile gets a player.
        this.playback?.end();
        this.playback = null;
    }
}

/** @param {any} answer @returns {import("../player/playback.js").Given} */
function givenOf(answer) {
    if (answer.text) return { kind: "written", text: answer.text };
    const film = filmOf(answer);
    if (film) return { kind: "recorded", film };
    if (answer.status === "failed") return { kind: "none", reason: "failed" };
    if (answer.status) return { kind: "converting" };
    return { kind: "none", reason: answer.unanswerable ? "lost" : answer.takes_begun > 0 ? "unfinished" : "none" };
}

/** Reads what the page shows. @param {Staff} app */
export async function readInterview(app) {
    const { api, place } = app;
    const address = candidateIn(place);
    const [candidate, interview, project] = await Promise.all([
        api.get(address),
        orNone(api.get(`${address}interview/`)),
        orNone(api.get(`${projectIn(place)}?expand=questions,criteria`)),
    ]);
    // Candidates, who see themselves, do not see it.
    if (candidate.external_id === undefined) throw new ApiError(404, {});
    const shown = new Interview(app, candidate, interview, project);
    if (shown.obstacle === null) {
        const items = shown.items.map((item) => item.resource_uri);
        shown.draft = await new Draft(api, candidate.my_evaluation, project.maximum_score, items).load();
        shown.draft.changed = () => app.render();
        shown.draft.refused = (error) => app.notice.noteUnsaved(error);
    }
    await shown.turn();
    return shown;
}

/** @param {Staff} app @returns {import("../staff.js").View} */
export function showInterview(app) {
    const shown = /** @type {Interview} */ (app.model.interview);
    const help = helpOf(app, shown);
    const place = element("section", { class: "place" });
    let placed = "";
    /** @type {{ content: import("../dom.js").Child, update: () => void } | null} */
    let view = null;
    const update = () => {
        help.update();
        // An answer that was converted meanwhile is shown in another way.
        const next = shown.isTurning ? "turning" : `${shown.number} ${shown.isAtEvaluation ? "" : shown.asked(shown.number).answer.kind}`;
        if (next !== placed) {
            const isFirst = placed === "";
            placed = next;
            if (shown.isTurning) {
                view = null;
                return fill(place, element("p", { class: "hint", role: "status" }, app.texts.loading));
            }
            view = shown.isAtEvaluation ? showEvaluation(app, shown) : showQuestion(app, shown);
            fill(place, view.content);
            if (!isFirst) {
                place.scrollIntoView({ block: "start" });
                place.querySelector("h2")?.focus();
            }
        }
        view?.update();
    };
    return { title: shown.name, content: [showHead(app, shown), help.whole, place], update };
}

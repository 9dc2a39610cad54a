// The candidates of a project: first those that wait for the reader's evaluation, then the others that can be watched.

import { ApiError } from "../api.js";
import { button, element } from "../dom.js";
import { filled } from "../language.js";
import { homeOf, pageOf, projectIn } from "./address.js";
import { firstRows, listOf } from "./lists.js";
import { saveResults } from "./results.js";

/** @typedef {import("../staff.js").Staff} Staff */

/** How many results are read at a time. */
const RESULTS = 100;

/** The ratings of a project's candidates, read as far as they are shown. */
class Ratings {
    /** @param {import("../api.js").Api} api @param {string} address that of the results */
    constructor(api, address) {
        this.api = api;
        /** @type {string | null} */
        this.next = `${address}?page_size=${RESULTS}`;
        /** By the references of candidates. @type {Map<string, string>} */
        this.found = new Map();
        this.last = "";
    }

    /** Reads on until these candidates are covered: both lists have the same order. @param {any[]} candidates */
    async cover(candidates) {
        const last = candidates.at(-1)?.resource_uri ?? "";
        while (this.next && this.last < last) {
            const page = await this.api.get(this.next);
            for (const { candidate, overall_rating: rating, maximum_score: maximum } of page.objects) {
                this.last = candidate;
                if (rating !== null) this.found.set(candidate, `${rating.toLocaleString(document.documentElement.lang)} / ${maximum}`);
            }
            this.next = page.meta.next;
        }
    }
}

/** The open requests of candidates, which only managers see. @param {Staff} app */
const requestsOf = (app) => firstRows(app.api, `${projectIn(app.place)}help-requests/`).catch((error) => {
    if (error instanceof ApiError && error.status === 403) return null;
    throw error;
});

/** Reads what the page shows. @param {Staff} app */
export async function readProject(app) {
    const { api, place } = app;
    const project = await api.get(projectIn(place));
    const isEvaluator = typeof project.my_pending_evaluations_count === "number";
    const list = (/** @type {string} */ query, /** @type {((row: any) => boolean) | undefined} */ keep = undefined) => firstRows(api, `${project.candidates}?${query}`, keep);
    const [requests, waiting, others, ended] = await Promise.all([
        requestsOf(app),
        isEvaluator ? list("status=interviewed&my_evaluation_status=pending") : null,
        list(`status=interviewed${isEvaluator ? "&my_evaluation_status=completed" : ""}`),
        // Without answers there is nothing to watch.
        list("status=aborted", ({ ended_by_time: isByTime }) => isByTime),
    ]);
    const ratings = project.can_see_results ? new Ratings(api, project.results) : null;
    await ratings?.cover(others.rows);
    return { project, requests, waiting, others, ended, ratings };
}

/** @param {Staff} app @returns {import("../staff.js").View} */
export function showProject(app) {
    const texts = app.texts.project;
    const { project, requests, waiting, others, ended, ratings } = app.model.project;
    const asking = (/** @type {any} */ request) => element("a", { class: "entry", href: pageOf(request.candidate) },
        element("span", { class: "named" }, element("bdi", {}, `${request.first_name} ${request.last_name}`)),
        element("span", { class: "hint" }, [app.texts.help.kinds[request.kind], app.dateText(request.asked_at)].filter(Boolean).join(" · ")));
    const entry = (/** @type {any} */ candidate) => {
        const { first_name: first, last_name: last, interviewdate: date, resource_uri: reference } = candidate;
        const rating = ratings?.found.get(reference);
        return element("a", { class: "entry", href: pageOf(reference) },
            element("span", { class: "named" }, element("bdi", {}, `${first} ${last}`)),
            element("span", { class: "hint" }, [app.texts.statuses[candidate.status], date && app.dateText(date)].filter(Boolean).join(" · ")),
            rating && element("span", { class: "count" }, filled(texts.rating, { rating })));
    };
    const section = (/** @type {string} */ title, /** @type {import("./lists.js").Rows<any>} */ rows) =>
        (rows.rows.length > 0 || rows.next) && [element("h2", {}, filled(title, { n: rows.total })), listOf(app, rows, entry, (added) => ratings?.cover(added))];
    return {
        title: project.name,
        content: [
            element("p", { class: "about" }, element("a", { href: homeOf(app.place.company) }, app.texts.home.title)),
            requests?.rows.length > 0 && [element("h2", {}, filled(texts.asking, { n: requests.total })), listOf(app, requests, asking)],
            waiting && (waiting.rows.length === 0 ? element("p", { class: "note" }, texts.done) : section(texts.waiting, waiting)),
            section(waiting ? texts.judged : texts.interviewed, others),
            section(texts.ended, ended),
            ratings && element("div", { class: "ways" }, button(texts.csv, () => app.attempt(() => saveResults(app.api, project)))),
            !waiting?.rows.length && others.rows.length === 0 && ended.rows.length === 0 && element("p", {}, texts.none),
        ],
    };
}

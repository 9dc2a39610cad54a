// Where staff begin: their projects, and how many candidates wait for them.

import { button, element } from "../dom.js";
import { filled } from "../language.js";
import { pageOf } from "./address.js";
import { firstRows, listOf } from "./lists.js";

/** @typedef {import("../staff.js").Staff} Staff */

/**
 * @typedef {object} Home
 * @property {import("./session.js").Account} account
 * @property {import("./lists.js").Rows<any>} projects
 * @property {boolean} isOfAll whether the projects are those of the company
 */

/**
 * Reads what the page shows.
 * @param {Staff} app
 * @param {boolean} [isOfAll]
 * @returns {Promise<Home>}
 */
export async function readHome(app, isOfAll = false) {
    const account = await app.session.readOwn();
    const projects = await firstRows(app.api, isOfAll ? `${account.company}projects/` : account.resource.projects);
    return { account, projects, isOfAll };
}

/** @param {Staff} app @returns {import("../staff.js").View} */
export function showHome(app) {
    const texts = app.texts.home;
    const { account, projects, isOfAll } = /** @type {Home} */ (app.model.home);
    const { first_name: first, last_name: last } = account.resource;
    const waiting = (/** @type {any} */ project) => project.my_pending_evaluations_count ?? 0;
    // Those that wait for the reader stand first.
    projects.rows.sort((one, other) => waiting(other) - waiting(one));
    const entry = (/** @type {any} */ project) => element("a", { class: "entry", href: pageOf(project.resource_uri) },
        element("span", { class: "named" }, element("bdi", {}, project.name)),
        element("span", { class: waiting(project) ? "count" : "hint" }, waitingText(app, project)));
    const other = async () => {
        app.model.home = await readHome(app, !isOfAll);
        app.render();
    };
    const mayTurn = account.permissions.includes("see_all_projects");
    return {
        title: isOfAll ? texts.all : texts.title,
        content: [
            element("p", { class: "hint" }, filled(texts.account, { name: `${first} ${last}` })),
            projects.rows.length === 0 ? element("p", { class: "note" }, texts.none) : listOf(app, projects, entry),
            mayTurn && button(isOfAll ? texts.title : texts.all, () => app.attempt(other), { class: "link" }),
        ],
    };
}

/** How many candidates of a project wait for the reader, in words. @param {Staff} app @param {any} project */
export function waitingText({ texts }, project) {
    const count = project.my_pending_evaluations_count;
    if (count === null || count === undefined) return filled(texts.home.interviewed, { n: project.interviewed_candidates_count });
    return count === 0 ? texts.home.nothing : filled(texts.home.waiting, { n: count });
}

// Where an address of the page leads, and the addresses that the page leads to.

import { segmentsOf } from "../links.js";

/**
 * @typedef {object} Place
 * @property {"home" | "project" | "result" | "refused" | "wrong"} kind
 * @property {string} company
 * @property {string} project
 * @property {string} candidate
 */

/** Each kind of address: its root, and how many segments it has. @type {Record<string, { kind: Place["kind"], length: number }>} */
const SHAPES = { staff: { kind: "home", length: 2 }, project: { kind: "project", length: 3 }, result: { kind: "result", length: 4 } };

/** The path of the page that shows why a sign-in was refused. */
const REFUSED = "sign-in";

/** What an address leads to. @param {{ pathname: string, search: string }} address @returns {Place} */
export function placeOf({ pathname, search }) {
    const segments = segmentsOf(pathname);
    if (segments.length === 1 && segments[0] === REFUSED) {
        return { kind: "refused", company: new URLSearchParams(search).get("company") ?? "", project: "", candidate: "" };
    }
    const [root = "", company = "", project = "", candidate = ""] = segments;
    const shape = SHAPES[root];
    return { kind: shape?.kind && shape.length === segments.length ? shape.kind : "wrong", company, project, candidate };
}

const addressOf = (/** @type {string[]} */ ...segments) => `/${segments.map(encodeURIComponent).join("/")}/`;

/** The page of a company's staff. @param {string} company */
export const homeOf = (company) => addressOf("staff", company);

/** The page of a project or of a candidate. @param {string} reference that of the API */
export function pageOf(reference) {
    const [company, project, candidate] = namesIn(reference);
    return candidate ? addressOf("result", company, project, candidate) : addressOf("project", company, project);
}

/** The identifiers in the reference of a project or a candidate. @param {string} reference */
const namesIn = (reference) => segmentsOf(reference.slice(reference.indexOf("/companies/"))).filter((_, index) => index % 2 === 1);

/** The reference of the project. @param {Place} place */
export const projectIn = ({ company, project }) => addressOf("companies", company, "projects", project);

/** The reference of the candidate. @param {Place} place */
export const candidateIn = (place) => `${projectIn(place)}candidates/${encodeURIComponent(place.candidate)}/`;

/**
 * The address that was asked for before the sign-in; null unless it is one of this page. Any other would let a link that looks like
 * ours lead elsewhere.
 * @param {string} search
 */
export function addressAskedFor(search) {
    const wished = new URLSearchParams(search).get("return_to") ?? "";
    if (!URL.canParse(wished, location.origin)) return null;
    const address = new URL(wished, location.origin);
    const { origin, pathname, hash } = address;
    // A path that begins with two slashes would name a host.
    const isOurs = origin === location.origin && !pathname.startsWith("/", 1);
    return isOurs && !["refused", "wrong"].includes(placeOf(address).kind) ? pathname + hash : null;
}

/**
 * The address that signs the reader in by the company's provider and leads back to a path of this page.
 * @param {string} signInUrl that of the company
 * @param {string} path
 */
export const signInUrlTo = (signInUrl, path) => `${signInUrl}?${new URLSearchParams({ return_to: path })}`;

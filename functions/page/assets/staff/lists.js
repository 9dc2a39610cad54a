// Lists of which the page shows the first fifty, and more when the reader asks for them.

import { button, element, fill } from "../dom.js";

/** How many entries are read at a time. */
const SIZE = 50;

/**
 * @template Row
 * @typedef {{ rows: Row[], total: number, next: string | null, keep: (row: Row) => boolean }} Rows
 */

/**
 * The first rows of a list.
 * @param {import("../api.js").Api} api
 * @param {string} address with its query
 * @param {(row: any) => boolean} [keep] which rows are shown
 * @returns {Promise<Rows<any>>}
 */
export async function firstRows(api, address, keep = () => true) {
    return rowsIn(await api.get(`${address}${address.includes("?") ? "&" : "?"}page_size=${SIZE}`), keep);
}

/** @param {{ objects: any[], meta: { total_count: number, next: string | null } }} page @param {(row: any) => boolean} keep @returns {Rows<any>} */
const rowsIn = ({ objects, meta }, keep) => ({ rows: objects.filter(keep), total: meta.total_count, next: meta.next, keep });

/**
 * A list of links with a button that shows more.
 * @param {import("../staff.js").Staff} app
 * @param {Rows<any>} list
 * @param {(row: any) => import("../dom.js").Child} entry
 * @param {(rows: any[]) => unknown} [prepare] called with further rows before they are shown
 */
export function listOf(app, list, entry, prepare) {
    const entries = element("ul", { class: "entries" }, list.rows.map((row) => element("li", {}, entry(row))));
    const more = element("p", {});
    const whole = element("div", {}, entries, more);
    const offer = () => fill(more, list.next && button(app.texts.more, () => app.attempt(read), { class: "link" }));
    const read = async () => {
        const page = rowsIn(await app.api.get(/** @type {string} */ (list.next)), list.keep);
        await prepare?.(page.rows);
        const added = page.rows.map((row) => element("li", {}, entry(row)));
        entries.append(...added);
        list.next = page.next;
        offer();
        // The button that was pressed may be gone.
        /** @type {HTMLElement | null} */ (added[0]?.querySelector("a"))?.focus();
    };
    offer();
    return whole;
}

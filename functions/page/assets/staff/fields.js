// The fields in which the reader judges. What was typed is in the draft, which may also take over what another window has saved.

import { button, element, fill } from "../dom.js";
import { filled } from "../language.js";
import { fieldOf, valueOf } from "./draft.js";

/** @typedef {import("../staff.js").Staff} Staff */
/** @typedef {import("./draft.js").Draft} Draft */

/**
 * A field as it is shown.
 * @typedef {{ whole: HTMLElement, update: () => void }} Field
 */

/** How far an arrow key changes a value. */
const STEP = 0.5;
/** The recommendations of the API, and none. */
const RECOMMENDATIONS = ["", "definitely_no", "no", "yes", "strong_yes"];

let made = 0;
/** An identifier that no other field has. */
const newId = () => `field-${(made += 1)}`;

/** A number as the reader's language writes it. @param {number} value */
const numberText = (value) => value.toLocaleString(document.documentElement.lang, { useGrouping: false });

/** The value, with what values mean, and the comment of a question or a criterion. @param {Staff} app @param {Draft} draft @param {any} rated @returns {Field} */
export function ratingOf(app, draft, { resource_uri: item, anchors }) {
    const { judge } = app.texts;
    const value = valueField(app, draft, fieldOf(item, "value"), anchors);
    const comment = textField(app, draft, fieldOf(item, "comment"), judge.comment, { maxlength: 500, rows: 3 });
    return together([value, comment], { class: "rating" });
}

/** Fields of which one is below the other. @param {Field[]} fields @param {Record<string, unknown>} [properties] @returns {Field} */
export const together = (fields, properties) => ({
    whole: element("div", properties, fields.map(({ whole }) => whole)),
    update: () => fields.forEach((field) => field.update()),
});

/**
 * A value of the scale. A number is typed, or changed by the arrow keys; both marks of decimals are taken, as people of one company
 * write them in different ways.
 * @param {Staff} app
 * @param {Draft} draft
 * @param {string} name
 * @param {{ value: number, text: string }[]} anchors
 * @returns {Field}
 */
function valueField(app, draft, name, anchors) {
    const { judge } = app.texts;
    const id = newId();
    const maximum = numberText(draft.maximum);
    const input = element("input", {
        id, type: "text", inputmode: "decimal", autocomplete: "off", maxlength: 5, class: "value", "aria-describedby": `${id}-error ${id}-anchors`,
        role: "spinbutton", "aria-valuemin": 0, "aria-valuemax": draft.maximum,
        oninput: () => draft.set(name, input.value),
        onkeydown: (/** @type {KeyboardEvent} */ event) => {
            const step = { ArrowUp: STEP, ArrowDown: -STEP }[event.key];
            if (!step || !draft.isOpen || event.altKey || event.ctrlKey || event.metaKey) return;
            event.preventDefault();
            const value = Math.min(Math.max((valueOf(input.value) || 0) + step, 0), draft.maximum);
            input.value = numberText(Math.round(value * 10) / 10);
            draft.set(name, input.value);
        },
    });
    const error = element("p", { class: "error", id: `${id}-error`, role: "alert" });
    const conflict = conflictOf(app, draft, name, (text) => text);
    const meanings = anchors.map(({ value, text }) => element("li", {}, element("b", {}, numberText(value)), " ", element("span", { dir: "auto" }, text)));
    return {
        whole: element("div", { class: "field" },
            element("label", { for: id }, filled(judge.value, { maximum })),
            element("div", { class: "scale" }, input, meanings.length > 0 && element("ul", { class: "anchors", id: `${id}-anchors`, "aria-label": judge.anchors }, meanings)),
            error,
            conflict.whole),
        update() {
            write(input, draft.get(name));
            input.readOnly = !draft.isOpen;
            const value = valueOf(input.value);
            if (value === null || Number.isNaN(value)) input.removeAttribute("aria-valuenow");
            else input.setAttribute("aria-valuenow", String(value));
            const isWrong = draft.isWrong(name);
            input.setAttribute("aria-invalid", String(isWrong));
            const text = isWrong ? filled(judge.wrong, { maximum }) : "";
            if (error.textContent !== text) fill(error, text);
            conflict.update();
        },
    };
}

/**
 * A text in several lines.
 * @param {Staff} app
 * @param {Draft} draft
 * @param {string} name
 * @param {string} label
 * @param {Record<string, unknown>} properties
 * @returns {Field}
 */
export function textField(app, draft, name, label, properties) {
    const id = newId();
    const input = element("textarea", { id, dir: "auto", ...properties, oninput: () => draft.set(name, input.value) });
    const conflict = conflictOf(app, draft, name, (text) => text);
    return {
        whole: element("div", { class: "field" }, element("label", { for: id }, label), input, conflict.whole),
        update() {
            write(input, draft.get(name));
            input.readOnly = !draft.isOpen;
            conflict.update();
        },
    };
}

/** What the reader recommends. @param {Staff} app @param {Draft} draft @returns {Field} */
export function recommendationField(app, draft) {
    const { judge, recommendations } = app.texts;
    const name = "recommendation";
    const labelOf = (/** @type {string} */ value) => recommendations[value || "none"];
    const inputs = RECOMMENDATIONS.map((value) => element("input", { type: "radio", name, value, onchange: () => draft.set(name, value) }));
    const choices = inputs.map((input) => element("label", { class: "choice" }, input, labelOf(input.value)));
    const conflict = conflictOf(app, draft, name, labelOf);
    const whole = element("fieldset", { class: "field" }, element("legend", {}, judge.recommendation), choices, conflict.whole);
    return {
        whole,
        update() {
            for (const input of inputs) input.checked = input.value === draft.get(name);
            whole.disabled = !draft.isOpen;
            conflict.update();
        },
    };
}

/** Shows a text, unless the field has it: the cursor would leap. @param {HTMLInputElement | HTMLTextAreaElement} input @param {string} text */
function write(input, text) {
    if (input.value !== text) input.value = text;
}

/**
 * What another window has saved in a field that was changed in this one as well, and the choice between both.
 * @param {Staff} app
 * @param {Draft} draft
 * @param {string} name
 * @param {(text: string) => string} shown
 * @returns {Field}
 */
function conflictOf(app, draft, name, shown) {
    const { conflict } = app.texts;
    const whole = element("div", { role: "alert" });
    /** @type {string | undefined} */
    let told;
    return {
        whole,
        update() {
            const theirs = draft.conflicts.get(name);
            if (theirs === told) return;
            told = theirs;
            fill(whole, theirs !== undefined && element("div", { class: "note" },
                element("p", {}, theirs === "" ? conflict.emptied : conflict.changed),
                theirs !== "" && element("blockquote", { dir: "auto" }, shown(theirs)),
                button(conflict.mine, () => draft.decide(name, true)),
                button(conflict.theirs, () => draft.decide(name, false))));
        },
    };
}

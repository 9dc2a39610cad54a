// Elements, made without markup in strings: the policy of the page forbids it, and texts of companies stay texts.

/** @typedef {Node | string | number | null | undefined | false | readonly unknown[]} Child */

/**
 * Makes an element. Properties that start with `on` are listeners, the others attributes: `true` sets an empty one, and
 * `false`, `null` and `undefined` none.
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {Record<string, unknown>} [properties]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[Name]}
 */
export function element(name, properties = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(properties)) {
        if (key.startsWith("on")) {
            made.addEventListener(key.slice(2), /** @type {EventListener} */ (value));
        } else if (value !== false && value !== null && value !== undefined) {
            made.setAttribute(key, value === true ? "" : String(value));
        }
    }
    fill(made, ...children);
    return made;
}

/**
 * Replaces what is in an element.
 * @param {Element} parent
 * @param {...Child} children
 */
export function fill(parent, ...children) {
    const kept = children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);
    parent.replaceChildren(...kept.map((child) => (child instanceof Node ? child : String(child))));
}

/**
 * Facts by their names.
 * @param {(readonly Child[] | Child)[]} lines name and value of each; others are left out
 */
export const factList = (lines) =>
    element("dl", { class: "facts" }, lines.map((line) => Array.isArray(line) && element("div", {}, element("dt", {}, line[0]), element("dd", {}, line[1]))));

/**
 * Shows a screen from its top, with the focus on its heading.
 * @param {Element} place
 * @param {string} title
 * @param {...Child} content
 */
export function showScreen(place, title, ...content) {
    const heading = element("h1", { tabindex: -1 }, title);
    document.title = title;
    fill(place, heading, ...content);
    scrollTo(0, 0);
    heading.focus();
}

/**
 * A button. While its action runs, it cannot be pressed again.
 * @param {string} label
 * @param {() => unknown} action
 * @param {Record<string, unknown>} [properties]
 */
export function button(label, action, properties = {}) {
    const made = element("button", { type: "button", ...properties }, label);
    made.addEventListener("click", async () => {
        // Not `disabled`, which would lose the focus of the keyboard.
        if (made.getAttribute("aria-disabled") === "true") return;
        made.setAttribute("aria-disabled", "true");
        try {
            await action();
        } finally {
            made.removeAttribute("aria-disabled");
        }
    });
    return made;
}

/**
 * A labelled input, with a hint and a place for its errors. With `reveal`, the label of a box that shows a password.
 * @param {string} label
 * @param {Record<string, unknown>} properties
 * @param {{ hint?: string, reveal?: string }} [options]
 */
export function field(label, properties, { hint, reveal } = {}) {
    const id = String(properties.id ?? properties.name);
    const input = element("input", { ...properties, id, "aria-describedby": `${id}-error${hint ? ` ${id}-hint` : ""}` });
    const error = element("p", { class: "error", id: `${id}-error`, role: "alert" });
    const about = hint && element("p", { class: "hint", id: `${id}-hint` }, hint);
    const toggle = () => (input.type = input.type === "password" ? "text" : "password");
    const revealing = reveal && element("label", { class: "choice" }, element("input", { type: "checkbox", onchange: toggle }), reveal);
    const whole = element("div", { class: "field" }, element("label", { for: id }, label), about, input, error, revealing);
    /** @param {string} [message] */
    const refuse = (message = "") => {
        error.textContent = message;
        input.setAttribute("aria-invalid", String(message !== ""));
        if (message) input.focus();
    };
    return { whole, input, refuse };
}

/** How long an announcement stands at least, and without another one, in milliseconds: a reader may miss one that is replaced at once. */
const STANDS = { least: 1500, most: 5000 };
/** @type {string[]} */
const unsaid = [];
let saidAt = -Infinity;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let saying;

/**
 * Says a text to those who use a screen reader, after those that were to be said before.
 * @param {string} text
 */
export function announce(text) {
    unsaid.push(text);
    clearTimeout(saying);
    const wait = saidAt + STANDS.least - performance.now();
    if (wait > 0) saying = setTimeout(sayNext, wait);
    else sayNext();
}

function sayNext() {
    const text = unsaid.shift();
    const announcer = /** @type {HTMLElement} */ (document.getElementById("announcer"));
    announcer.textContent = text ?? "";
    if (text === undefined) return;
    saidAt = performance.now();
    saying = setTimeout(sayNext, unsaid.length > 0 ? STANDS.least : STANDS.most);
}

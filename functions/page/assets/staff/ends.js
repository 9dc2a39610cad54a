// Signing in, and reasons why there is nothing to see.

import { ApiError } from "../api.js";
import { button, element, field, fill } from "../dom.js";
import { filled } from "../language.js";
import { homeOf, signInUrlTo } from "./address.js";

/** @typedef {import("../staff.js").Staff} Staff */
/** @typedef {import("../staff.js").View} View */

/** The query of a window that was opened to sign in beside another one. */
export const AGAIN = "again";
/** The query of such a window once the provider has led back to it. */
export const SIGNED_IN = "signed-in";

/** @param {Staff} app @returns {View} */
export function showSignIn(app) {
    const texts = app.texts.signIn;
    const { company } = app.place;
    // It outlives a change of the language.
    const keep = () => (app.model.username = name.input.value);
    const name = field(texts.name, { name: "username", type: "text", value: app.model.username, oninput: keep, autocomplete: "username", autocapitalize: "none", spellcheck: "false", maxlength: 254, required: true });
    const password = field(texts.password, { name: "password", type: "password", autocomplete: "current-password", maxlength: 128, required: true }, { reveal: app.texts.showPassword });
    const sent = element("p", { role: "status" });
    const problem = element("p", { class: "problem", role: "alert" });

    /** Does something that may fail, and says so if it does. @param {() => Promise<unknown>} action */
    const attempt = async (action) => {
        fill(problem);
        try {
            await action();
        } catch (error) {
            if (!(error instanceof ApiError)) throw error;
            fill(problem, error.code === "sign_in_required" ? texts.required : app.refusalText(error));
        }
    };
    const signIn = async () => {
        password.refuse();
        const account = await app.session.begin(name.input.value, password.input.value);
        if (!account) return password.refuse(texts.wrong);
        if (account.kind === "candidate") return app.end("candidate");
        if (isAgain()) return app.end("signedIn");
        await app.load();
    };
    const { signInUrl } = app.model;
    const submit = element("button", { class: !signInUrl && "main" }, texts.submit);
    const form = element("form", {
        onsubmit: async (/** @type {Event} */ event) => {
            event.preventDefault();
            if (submit.getAttribute("aria-disabled") === "true") return;
            submit.setAttribute("aria-disabled", "true");
            await attempt(signIn).finally(() => submit.removeAttribute("aria-disabled"));
        },
    }, name.whole, password.whole, submit);
    const forget = button(texts.forgotten, () => attempt(async () => {
        if (!name.input.reportValidity()) return;
        await app.api.send("POST", "/api-password-reset/", { company, username: name.input.value });
        fill(sent, texts.sent);
    }), { class: "link" });
    return {
        title: texts.title,
        content: [
            element("p", {}, `${texts.company}: `, element("b", {}, element("bdi", {}, company))), problem,
            signInUrl && [element("p", { class: "ways" }, providerLink(app, signInUrl)), element("h2", {}, texts.byPassword)],
            form, forget, sent,
        ],
    };
}

/** The way to the provider of the company, and back to what was asked for. @param {Staff} app @param {string} signInUrl */
function providerLink(app, signInUrl) {
    const { kind, company } = app.place;
    const path = isAgain() ? `${homeOf(company)}?${SIGNED_IN}` : kind === "refused" ? homeOf(company) : location.pathname + location.hash;
    return element("a", { class: "main", href: signInUrlTo(signInUrl, path) }, app.texts.signIn.toProvider);
}

/** Whether this window was opened to sign in beside another one. */
const isAgain = () => new URLSearchParams(location.search).has(AGAIN);

/** A sign-in by the provider of the company was refused. @param {Staff} app @returns {View} */
export function showRefused(app) {
    const texts = app.texts.refused;
    const { signInUrl } = app.model;
    const { company } = app.place;
    const code = new URLSearchParams(location.search).get("code") ?? "";
    const isOccupied = code === "sign_in_occupied" && company;
    const signOut = () => button(app.texts.signOut, () => app.attempt(() => app.signOut()), { class: "main" });
    const another = company && element("a", { class: !signInUrl && "main", href: homeOf(company) }, texts.another);
    return {
        title: texts.title,
        content: [
            element("p", { class: "lead" }, /^sign_in_/.test(code) && texts[code] || texts.other),
            element("p", { class: "ways" }, isOccupied ? signOut() : [signInUrl && providerLink(app, signInUrl), another]),
        ],
    };
}

/** @param {Staff} app @returns {View} */
export function showOver(app) {
    const { reason } = app.model;
    const { company } = app.place;
    const { title, text } = app.texts.over[reason];
    const home = element("a", { class: "main", href: homeOf(company) }, app.texts.home.title);
    const again = button(app.texts.tryAgain, () => app.load(), { class: "main" });
    const signOut = button(app.texts.signOut, () => app.attempt(() => app.signOut()), { class: "main" });
    /** @type {Partial<Record<import("../staff.js").Reason, unknown[]>>} */
    const ways = {
        gone: [home],
        signedIn: [home],
        company: [signOut],
        candidate: [element("a", { class: "main", href: `/interview/${encodeURIComponent(company)}/` }, app.texts.toInterview), signOut],
        offline: [again],
        busy: [again],
    };
    return { title, content: [element("p", { class: "lead" }, filled(text, { company })), element("p", { class: "ways" }, ways[reason] ?? [])] };
}

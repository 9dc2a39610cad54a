// Signing in, and reasons why there is nothing to see.

import { ApiError } from "../api.js";
import { button, element, field, fill } from "../dom.js";
import { filled } from "../language.js";
import { homeOf } from "./address.js";

/** @typedef {import("../staff.js").Staff} Staff */
/** @typedef {import("../staff.js").View} View */

/** @param {Staff} app @returns {View} */
export function showSignIn(app) {
    const texts = app.texts.signIn;
    const { company } = app.place;
    const name = field(texts.name, { name: "username", type: "text", autocomplete: "username", autocapitalize: "none", spellcheck: "false", maxlength: 254, required: true });
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
            fill(problem, app.refusalText(error));
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
    const submit = element("button", { class: "main" }, texts.submit);
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
        content: [element("p", {}, `${texts.company}: `, element("b", {}, element("bdi", {}, company))), problem, form, forget, sent],
    };
}

/** Whether this window was opened to sign in beside another one. */
const isAgain = () => new URLSearchParams(location.search).has("again");

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

// Accounts are activated, and forgotten passwords replaced, by a key that came by mail.

import { ApiError } from "../api.js";
import { element, field, fill } from "../dom.js";
import { filled } from "../language.js";
import { buttonTo } from "../links.js";
import { accountFacts, wayOn } from "./account.js";

/** Why the service refuses a password. @param {import("../main.js").App} app @param {string} password */
export const weakness = (app, password) => app.texts.password[[...password].length < 8 ? "hint" : "common"];

/** @param {import("../main.js").App} app @returns {import("../main.js").View} */
export function showPassword(app) {
    const texts = app.texts.password;
    const { kind, key } = app.model.link;
    const isReset = kind === "reset";
    const holder = /** @type {import("../types.js").KeyHolder} */ (app.model.holder);
    const { name: company } = /** @type {import("../types.js").CompanyLogin} */ (app.model.company);
    // Managers of passwords keep the name with the password.
    const name = element("input", { class: "hidden", type: "text", name: "username", autocomplete: "username", value: holder.username, readonly: true, tabindex: -1, "aria-label": app.texts.login.email });
    const password = field(texts.password, { name: "password", type: "password", autocomplete: "new-password", minlength: 8, maxlength: 128, required: true }, { hint: texts.hint, reveal: app.texts.showPassword });

    async function save() {
        password.refuse();
        const body = { [isReset ? "key" : "activation_key"]: key, password: password.input.value };
        try {
            await app.api.send("POST", isReset ? "/api-password-reset/confirm/" : "/api-activate/", body);
        } catch (error) {
            if (error instanceof ApiError && error.code === "sign_in_required") {
                return fill(form, element("p", { role: "alert" }, texts.byProvider), buttonTo(String(error.body.sign_in_url), texts.toProvider));
            }
            if (!(error instanceof ApiError) || error.status !== 400) throw error;
            const isWeak = error.about("password") !== "";
            password.refuse(isWeak ? weakness(app, password.input.value) : app.texts.over.used.title);
            return;
        }
        const heading = element("h2", { tabindex: -1 }, texts.saved);
        const text = holder.kind === "customer" ? texts.savedStaff : texts.savedCandidate;
        fill(form, heading, element("p", {}, filled(text, { name: holder.username })), wayOn(app, holder.username));
        heading.focus();
    }

    const form = element("form", {
        onsubmit: (/** @type {Event} */ event) => {
            event.preventDefault();
            app.attempt(save);
        },
    }, name, password.whole, element("button", { class: "main" }, texts.submit));
    return { title: isReset ? texts.titleReset : texts.titleActivate, content: [element("p", { class: "lead" }, filled(texts.account, { name: holder.username, company })), form, accountFacts(app)] };
}

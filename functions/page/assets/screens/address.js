// Another address of an account is confirmed, or the former one restored, by a key that came by mail.

import { ApiError } from "../api.js";
import { element, field, fill } from "../dom.js";
import { filled } from "../language.js";
import { accountFacts, wayOn } from "./account.js";

/** @param {import("../main.js").App} app @returns {import("../main.js").View} */
export function showAddress(app) {
    const { kind, key } = app.model.link;
    const isConfirmation = kind === "confirm";
    const texts = app.texts.address[isConfirmation ? "confirm" : "restore"];
    const holder = /** @type {import("../types.js").KeyHolder} */ (app.model.holder);
    const { name: company } = /** @type {import("../types.js").CompanyLogin} */ (app.model.company);
    // Candidates without a user name are known by the address alone.
    const about = holder.username === holder.email ? texts.aboutUnnamed : texts.about;
    const names = { email: holder.email, name: holder.username, company };
    const password = field(app.texts.login.password, { name: "password", type: "password", autocomplete: "current-password", required: true }, { reveal: app.texts.showPassword });

    async function save() {
        password.refuse();
        try {
            await app.api.send("POST", isConfirmation ? "/api-email-confirm/" : "/api-email-restore/", isConfirmation ? { key, password: password.input.value } : { key });
        } catch (error) {
            if (!(error instanceof ApiError) || error.status !== 400) throw error;
            if (error.about("password")) return password.refuse(texts.wrong);
            app.model.holder = null;
            return;
        }
        const heading = element("h2", { tabindex: -1 }, texts.done);
        fill(form, heading, element("p", {}, filled(texts.next, names)), wayOn(app, holder.email));
        heading.focus();
    }

    // Only a press of the button does something: programs open links in mails as well.
    const form = element("form", {
        onsubmit: (/** @type {Event} */ event) => {
            event.preventDefault();
            app.attempt(save);
        },
    }, isConfirmation && element("input", { class: "hidden", type: "text", name: "username", autocomplete: "username", value: holder.username, readonly: true, tabindex: -1, "aria-label": app.texts.login.email }), isConfirmation && password.whole, element("button", { class: "main" }, texts.submit));
    return { title: texts.title, content: [element("p", { class: "lead" }, filled(about, names)), accountFacts(app), form] };
}

// Candidates who have a password log in.

import { endOf } from "../access.js";
import { ApiError } from "../api.js";
import { button, element, field, fill } from "../dom.js";
import { filled } from "../language.js";
import { buttonTo, companyIn } from "../links.js";
import { applicationOf } from "./account.js";

/** @param {import("../main.js").App} app @returns {import("../main.js").View} */
export function showLogin(app) {
    const texts = app.texts.login;
    const { model } = app;
    const company = model.link.company ?? companyIn(model.candidate?.company.resource_uri ?? "");
    const { name } = /** @type {{ name: string }} */ ((model.candidate ?? model.ended)?.company ?? model.company);
    const email = field(texts.email, { name: "email", type: "email", autocomplete: "username", required: true, value: model.candidate?.email || model.link.email });
    const password = field(texts.password, { name: "password", type: "password", autocomplete: "current-password", required: true }, { reveal: app.texts.showPassword });
    const sent = element("p", { role: "status" });

    async function logIn() {
        password.refuse();
        const body = { company, username: email.input.value, password: password.input.value };
        let who;
        try {
            who = (await app.api.send("POST", "/api-session-auth/", body)).body;
        } catch (error) {
            const isWrong = error instanceof ApiError && (error.status === 401 || error.status === 400);
            if (!isWrong) throw error;
            const ended = endOf(error);
            if (ended) return app.access.endByLogin(ended);
            password.refuse(texts.wrong);
            return;
        }
        if (who.kind === "candidate") return app.access.load();
        // Staff have no business here, and their session is not for this page.
        await app.api.send("POST", "/api-session-invalidate/");
        if (!model.company) await app.access.meet(company);
        forget.remove();
        fill(form, element("p", { class: "note", role: "alert" }, filled(texts.staff, { company: name })), model.company && buttonTo(applicationOf(model.company), app.texts.toApp));
    }

    const form = element("form", {
        onsubmit: (/** @type {Event} */ event) => {
            event.preventDefault();
            app.attempt(logIn);
        },
    }, email.whole, password.whole, element("button", { class: "main" }, texts.submit));
    const forget = button(texts.forgotten, () => app.attempt(async () => {
        if (!email.input.reportValidity()) return;
        await app.api.send("POST", "/api-password-reset/", { company, username: email.input.value });
        sent.textContent = texts.sent;
    }), { class: "link" });
    const note = model.isLoggedOut ? texts.again : model.ended && texts.registered;
    return { title: filled(texts.title, { company: name }), content: [note && element("p", { class: "note" }, note), form, forget, sent] };
}

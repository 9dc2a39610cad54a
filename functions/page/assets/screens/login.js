// Candidates who have a password log in.

import { ApiError } from "../api.js";
import { button, element, field } from "../dom.js";

/** @param {import("../main.js").App} app @returns {import("../main.js").View} */
export function showLogin(app) {
    const texts = app.texts.login;
    const { company } = app.model.link;
    const email = field(texts.email, { name: "email", type: "email", autocomplete: "username", required: true });
    const password = field(texts.password, { name: "password", type: "password", autocomplete: "current-password", required: true }, { reveal: app.texts.showPassword });
    const sent = element("p", { role: "status" });

    async function logIn() {
        password.refuse();
        const body = { company, username: email.input.value, password: password.input.value };
        try {
            await app.api.send("POST", "/api-session-auth/", body);
        } catch (error) {
            const isWrong = error instanceof ApiError && (error.status === 401 || error.status === 400);
            if (!isWrong) throw error;
            password.refuse(texts.wrong);
            return;
        }
        await app.load();
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
    return { title: texts.title, content: [app.model.isLoggedOut && element("p", { class: "note" }, texts.again), form, forget, sent] };
}

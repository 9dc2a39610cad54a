// What awaits the candidate, what they agree to, and the password of those who need one.

import { ApiError } from "../api.js";
import { element, factList, field } from "../dom.js";
import { dateText, duration, filled } from "../language.js";
import { companyIn, linkTo, linked, loginOf } from "../links.js";
import { isWritten } from "../state.js";
import { weakness } from "./password.js";
import { videoOf } from "./video.js";

/** @param {import("../main.js").App} app @returns {import("../main.js").View} */
export function showWelcome(app) {
    const texts = app.texts.welcome;
    const candidate = /** @type {import("../types.js").Candidate} */ (app.model.candidate);
    const isInWriting = isWritten(app.model);
    const needsPassword = app.model.link.kind === "register" && candidate.status === "invited";
    const password = field(texts.password, { name: "password", type: "password", autocomplete: "new-password", minlength: 8, maxlength: 128, required: true }, { hint: texts.passwordHint, reveal: app.texts.showPassword });
    const consents = app.legal.map((text) => consentOf(app, text));
    const videos = candidate.project.videos.map(({ uri }, index) => videoOf(app, uri, filled(texts.video, { n: index + 1 })));

    async function goOn() {
        const missing = consents.find((consent) => !consent.check());
        if (missing) return;
        password.refuse();
        for (const consent of consents) await consent.send();
        if (needsPassword) {
            if (!(await choosePassword())) return;
            await register();
        } else {
            await app.api.advance(candidate.resource_uri, "invited");
        }
        await app.access.load();
        app.go(isInWriting ? "practice" : "check");
    }

    /** Returns whether the service accepts the password. */
    async function choosePassword() {
        try {
            await app.api.send("PATCH", candidate.resource_uri, { password: password.input.value });
            return true;
        } catch (error) {
            if (!(error instanceof ApiError) || !error.about("password")) throw error;
            password.refuse(weakness(app, password.input.value));
            return false;
        }
    }

    async function register() {
        await app.api.advance(candidate.resource_uri, "invited");
        // The key has ended: from now on the password counts.
        const company = companyIn(candidate.company.resource_uri);
        app.api.key = undefined;
        app.model.link = { kind: "login", company };
        history.replaceState(null, "", loginOf(candidate.company.resource_uri));
        const username = candidate.email || candidate.username;
        await app.api.send("POST", "/api-session-auth/", { company, username, password: password.input.value });
    }

    const form = element("form", {
        novalidate: consents.length > 0,
        onsubmit: (/** @type {Event} */ event) => {
            event.preventDefault();
            if (needsPassword && !password.input.reportValidity()) return;
            app.attempt(goOn);
        },
    },
    consents.length > 0 && element("h2", {}, texts.legal), consents.map(({ whole }) => whole),
    // Managers of passwords keep the name with the password.
    needsPassword && element("input", { class: "hidden", type: "text", name: "username", autocomplete: "username", value: candidate.email, readonly: true, tabindex: -1, "aria-label": app.texts.login.email }),
    needsPassword && password.whole,
    element("button", { class: "main" }, candidate.project.interview_platform === "external" ? texts.accepted : isInWriting ? app.texts.continue : texts.submit));
    const names = { name: candidate.first_name, company: candidate.company.name, project: candidate.project.name };
    const keeping = filled(texts.keeping, names);
    return {
        title: filled(texts.title, names),
        content: [
            element("p", { class: "lead" }, filled(isInWriting ? texts.invitedToWrite : texts.invited, names)),
            candidate.project.job_url && element("p", {}, linkTo(candidate.project.job_url, texts.position)),
            element("p", {}, isInWriting ? texts.howToWrite : texts.how), facts(app), videos,
            !isInWriting && element("p", {}, texts.needs),
            element("p", { class: "note" }, isInWriting ? keeping : filled(texts.recording, { keeping })),
            form,
        ],
    };
}

/** What the candidate should know before they begin. @param {import("../main.js").App} app */
function facts(app) {
    const texts = app.texts.welcome;
    const { candidate, interview } = app.model;
    const lines = [
        interview && [texts.questions, interview.questions],
        interview && interview.answer_seconds > 0 && [texts.answerTime, duration(app.texts, interview.answer_seconds)],
        interview?.limit_seconds && [texts.limit, duration(app.texts, interview.limit_seconds)],
        candidate?.deadline && [texts.deadline, dateText(candidate.deadline, document.documentElement.lang)],
    ];
    return factList(lines);
}

/**
 * A legal text of the company, and whether the candidate agrees.
 * @param {import("../main.js").App} app
 * @param {import("../types.js").LegalText} text
 */
function consentOf(app, text) {
    const texts = app.texts.welcome;
    const language = [document.documentElement.lang, "en", ...Object.keys(text.texts)].find((tag) => tag in text.texts) ?? "en";
    const wording = text.texts[language] ?? "";
    const id = `consent-${text.kind}`;
    const box = element("input", { type: "checkbox", id, "aria-labelledby": `${id}-name ${id}-label`, "aria-describedby": `${id}-error` });
    const error = element("p", { class: "error", id: `${id}-error`, role: "alert" });
    const name = texts[text.kind] ?? text.kind;
    const isAddress = /^\S+$/.test(wording);
    const shown = isAddress
        ? element("p", {}, linked(wording))
        : element("div", { class: "wording", dir: "auto", lang: language, tabindex: 0, role: "region", "aria-label": name }, linked(wording));
    return {
        whole: element("section", { class: "consent" }, element("h3", { id: `${id}-name` }, name), shown,
            element("label", { class: "choice", for: id }, box, element("span", { id: `${id}-label` }, text.is_required ? texts.accept : texts.acceptOptional)), error),
        check() {
            const isMissing = text.is_required && !box.checked;
            error.textContent = isMissing ? texts.acceptMissing : "";
            if (isMissing) box.focus();
            return !isMissing;
        },
        async send() {
            if (!box.checked) return;
            const own = /** @type {import("../types.js").Candidate} */ (app.model.candidate).resource_uri;
            await app.api.send("PUT", `${own}consents/${text.kind}/`, { version: text.version, language });
        },
    };
}

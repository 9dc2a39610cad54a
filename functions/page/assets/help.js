// What candidates ask the company for: in the same place below each screen, from the first one to those after the end.

import { endOf } from "./access.js";
import { Api, ApiError } from "./api.js";
import { announce, button, element, fill } from "./dom.js";
import { dateText, filled } from "./language.js";

/** The screens below which candidates can ask. On all others, a recording or a form of its own needs the room. */
const SCREENS = ["welcome", "check", "practice", "overview", "question", "write", "complete", "sending", "login", "done", "over"];
/** The ends of a key whose holder may ask all the same. */
const ENDS = ["deadline_passed", "interview_completed", "key_registered"];
const KINDS = ["time", "adjustment", "technical", "decline"];
/** The most characters that the service accepts. */
const MAX = 1000;

/** The request of a candidate, and the form to write one. It outlives the screens, so that nothing that was typed is lost. */
export class Help {
    /** @param {import("./main.js").App} app */
    constructor(app) {
        this.app = app;
        this.kind = "";
        this.text = "";
        /** Whether the form is open beside a request that waits for its answer. */
        this.isChanging = false;
        this.shown = "";
        this.form = element("details", { class: "ask" });
        this.told = element("div");
        this.whole = element("section", { class: "help" }, this.told, this.form);
    }

    /** Who asks: the candidate, or what is left of them once their key has ended. */
    get person() {
        const { candidate, ended, isLoggedOut } = this.app.model;
        return candidate && !isLoggedOut ? candidate : ended;
    }

    /** Whether the service takes a request from here. */
    get isOffered() {
        const { candidate, ended, isLoggedOut, isLoaded } = this.app.model;
        if (!isLoaded || !SCREENS.includes(this.app.screen)) return false;
        if (candidate && !isLoggedOut) return candidate.status !== "skipped";
        return Boolean(ended && this.app.key && ENDS.includes(ended.code));
    }

    /** The API as the one who asks: a key that has ended still proves who they are. */
    get api() {
        const { api, key, model } = this.app;
        return model.candidate && !model.isLoggedOut ? api : new Api(api.base, key);
    }

    /** A button that leads to the form, where candidates are stuck above it. */
    opener() {
        return button(filled(this.app.texts.help.opener, this.names), () => this.open(), { class: "link" });
    }

    get names() {
        return { company: this.person?.company.name ?? "" };
    }

    open() {
        this.isChanging ||= Boolean(this.person?.help_request && !this.person.help_request.answered_at);
        this.update();
        this.form.open = true;
        this.form.scrollIntoView({ block: "start" });
        this.form.querySelector("input")?.focus();
    }

    /** Shows the request and the form, if something has changed. */
    update() {
        const { isOffered, person } = this;
        this.whole.hidden = !isOffered;
        if (!isOffered || !person) return;
        const { help_request: request } = person;
        const next = JSON.stringify([request, this.isChanging, person.company.name, document.documentElement.lang, this.deadline]);
        if (next === this.shown) return;
        this.shown = next;
        const isOpen = Boolean(request && !request.answered_at);
        fill(this.told, request && this.about(request, isOpen));
        this.form.hidden = isOpen && !this.isChanging;
        this.fillForm();
    }

    /** The end of the candidate's time, as long as it is ahead. */
    get deadline() {
        const { candidate, interview } = this.app.model;
        const end = interview?.ends_at ?? candidate?.deadline;
        return this.person === candidate && end && Date.parse(end) > this.app.api.now() ? end : null;
    }

    /** What becomes of a request, and by when. */
    next() {
        const { help: texts } = this.app.texts;
        const { candidate } = this.app.model;
        const isMailed = this.person !== candidate || (candidate?.receive_mails && candidate.email);
        const { deadline } = this;
        const date = deadline && dateText(deadline, document.documentElement.lang);
        return filled(`${isMailed ? texts.next : texts.nextHere} ${date ? texts.until : texts.unchanged}`, { ...this.names, date });
    }

    /**
     * What was asked, and what the company has said.
     * @param {import("./types.js").HelpRequest} request
     * @param {boolean} isOpen
     */
    about(request, isOpen) {
        const { help: texts } = this.app.texts;
        const moment = (/** @type {string} */ at) => ({ ...this.names, date: dateText(at, document.documentElement.lang) });
        const asked = [
            element("h2", { tabindex: -1 }, filled(texts.asked, moment(request.asked_at))),
            element("p", {}, texts.kinds[request.kind]), element("blockquote", { dir: "auto" }, request.text),
        ];
        if (!isOpen) {
            const words = request.answer ? element("blockquote", { dir: "auto" }, request.answer) : element("p", {}, filled(texts.done, this.names));
            return element("div", { class: "note asking" }, asked, element("h2", {}, filled(texts.answered, moment(/** @type {string} */ (request.answered_at)))), words);
        }
        return element("div", { class: "note asking" }, asked, element("p", {}, this.next()),
            !this.isChanging && button(texts.change, () => {
                [this.kind, this.text] = [request.kind, request.text];
                this.open();
            }),
            button(texts.back, () => this.app.attempt(() => this.takeBack())));
    }

    fillForm() {
        const { help: texts } = this.app.texts;
        const radios = KINDS.map((kind) => element("input", { type: "radio", name: "help-kind", value: kind, checked: kind === this.kind, onchange: () => choose(kind) }));
        const kindError = element("p", { class: "error", id: "help-kind-error", role: "alert" });
        const kinds = element("fieldset", { class: "field", "aria-describedby": "help-kind-error" }, element("legend", {}, texts.kind),
            radios.map((radio) => element("label", { class: "choice" }, radio, texts.kinds[radio.value])), kindError);
        const more = element("p", { class: "hint", id: "help-more", role: "status" });
        const text = element("textarea", {
            id: "help-text", rows: 4, dir: "auto", maxlength: MAX, "aria-describedby": "help-hint help-more help-text-error", oninput: () => {
                this.text = text.value;
                textError.textContent = "";
            },
        });
        text.value = this.text;
        const textError = element("p", { class: "error", id: "help-text-error", role: "alert" });
        const choose = (/** @type {string} */ kind) => {
            this.kind = kind;
            kindError.textContent = "";
            more.textContent = filled(texts.more[kind] ?? "", this.names);
        };
        if (this.kind) choose(this.kind);
        const send = async () => {
            kindError.textContent = this.kind ? "" : texts.kindMissing;
            textError.textContent = this.text.trim() ? "" : texts.textMissing;
            if (!this.kind) return radios[0].focus();
            if (!this.text.trim()) return text.focus();
            await this.app.attempt(() => this.send(textError));
        };
        const submit = button(filled(texts.send, this.names), send);
        fill(this.form, element("summary", {}, texts.title),
            element("p", {}, filled(texts.lead, this.names)), kinds,
            element("div", { class: "field" }, element("label", { for: "help-text" }, texts.text), element("p", { class: "hint", id: "help-hint" }, texts.hint), text, more, textError),
            element("p", { class: "hint" }, this.next()), submit,
            this.isChanging && button(this.app.texts.back, () => this.close(), { class: "link" }));
    }

    /** The address of the request. */
    get address() {
        return `${this.person?.resource_uri}help-request/`;
    }

    /** @param {Element} place where to say that it was too often */
    async send(place) {
        try {
            const { body } = await this.api.send("PUT", this.address, { kind: this.kind, text: this.text });
            [this.kind, this.text] = ["", ""];
            this.settle(body);
            announce(this.next());
        } catch (error) {
            // The limit of a day is told at the text, which stays.
            if (!(error instanceof ApiError) || error.status !== 429) throw error;
            place.textContent = filled(this.app.texts.help.tooMany, this.names);
        }
    }

    async takeBack() {
        try {
            await this.api.send("DELETE", this.address);
        } catch (error) {
            // The company has answered, or an earlier attempt has taken it back and its answer was lost.
            if (!(error instanceof ApiError) || error.status !== 404) throw error;
            return this.settle(await this.readRequest());
        }
        this.settle(null);
    }

    /** Reads the request that is stored, which the end of a key tells too. @returns {Promise<import("./types.js").HelpRequest | null>} */
    async readRequest() {
        try {
            return (await this.api.get("/whoami/candidate/")).help_request;
        } catch (error) {
            const ended = endOf(error);
            if (!ended) throw error;
            return ended.help_request;
        }
    }

    /** Goes on with what the service has stored. @param {import("./types.js").HelpRequest | null} request */
    settle(request) {
        if (this.person) this.person.help_request = request;
        this.close();
        this.told.scrollIntoView({ block: "nearest" });
        // The button that was pressed is gone.
        (this.told.querySelector("h2") ?? this.form.querySelector("summary"))?.focus();
    }

    close() {
        this.isChanging = false;
        this.form.open = false;
        this.shown = "";
        this.update();
    }
}

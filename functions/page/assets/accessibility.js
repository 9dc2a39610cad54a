// How far the pages can be used by everyone, and whom to ask for another way.

import { Api, ApiError } from "./api.js";
import { element, fill, showScreen } from "./dom.js";
import { languageOf, loadTexts } from "./language.js";
import { languageChoice } from "./languages.js";
import { contactText, segmentsOf } from "./links.js";
import { remembered } from "./local.js";
import { loadStyle } from "./style.js";

/** When the pages were last measured against the criteria. ACCESSIBILITY.md has each of them. */
const MEASURED = "2026-11-30T12:00:00Z";

const [main, header] = ["screen", "header"].map((id) => /** @type {HTMLElement} */ (document.getElementById(id)));

/** The page for one company; without a company that is known, what it says of all. */
class Statement {
    /** @param {string} [company] */
    constructor(company) {
        this.api = new Api(document.body.dataset.api ?? "");
        this.company = company;
        /** @type {import("./types.js").CompanyLogin | null} */
        this.known = null;
        /** @type {import("./language.js").Texts} */
        this.texts = {};
    }

    async start() {
        loadStyle();
        document.body.classList.add("statement");
        if (this.company) this.known = await this.read(this.company);
        await this.show();
    }

    /** What the company tells of itself; null if it is not known, or cannot be read now: the rest is true all the same. @param {string} company */
    async read(company) {
        try {
            return await this.api.get(`/companies/${encodeURIComponent(company)}/login/`, 5000);
        } catch (error) {
            if (!(error instanceof ApiError)) throw error;
            return null;
        }
    }

    async show() {
        const language = languageOf(remembered("language"));
        this.texts = await loadTexts(language, "accessibility/");
        document.documentElement.lang = language;
        const { texts, known } = this;
        fill(header, element("p", { class: "name", dir: "auto" }, known?.name ?? ""), languageChoice(texts.language, () => this.change()));
        const contact = known && contactText(texts.contact, known.contact);
        const part = (/** @type {{ title: string, items: string[] }} */ { title, items }) => [element("h2", {}, title), element("ul", {}, items.map((item) => element("li", {}, item)))];
        showScreen(main, texts.title,
            element("p", { class: "lead" }, texts.lead),
            part(texts.works), part(texts.partly),
            element("h2", {}, texts.ask.title), element("p", {}, texts.ask.page), element("p", {}, contact || texts.ask.unknown),
            element("p", { class: "hint" }, texts.measured, " ", new Date(MEASURED).toLocaleDateString(language, { dateStyle: "long" })));
    }

    /** Shows the page in another language, and leaves the focus where it is. */
    async change() {
        await this.show();
        header.querySelector("select")?.focus();
    }
}

const [, company, ...rest] = segmentsOf(location.pathname);
new Statement(rest.length === 0 ? company : undefined).start();

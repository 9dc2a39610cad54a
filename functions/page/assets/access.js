// The candidate's access, by the key of the link or by a session. Both may end at any time.

import { Api, ApiError } from "./api.js";
import { tidyUp } from "./kept.js";
import { companyIn, loginOf } from "./links.js";

/** How the page knows the candidate. */
export class Access {
    /** @param {import("./main.js").App} app */
    constructor(app) {
        this.app = app;
        /** Whether the service was told that the candidate has opened the interview. */
        this.isOpened = false;
    }

    /** Whether a session says who the candidate is; the key of an invitation needs none. */
    get isSession() {
        const { model, api } = this.app;
        return model.candidate !== null && !model.isLoggedOut && !api.key;
    }

    /** Reads who the candidate is and what they may do. @returns {Promise<void>} */
    async load() {
        const { app } = this;
        const { model, api } = app;
        const { kind, company, key } = model.link;
        if (kind === "wrong") return;
        if (["reset", "activate", "confirm", "restore"].includes(kind)) return this.meetHolder(key);
        try {
            model.candidate = await api.get("/whoami/candidate/");
        } catch (error) {
            if (!(error instanceof ApiError && error.isAboutAccess)) throw error;
            const ended = endOf(error);
            if (ended?.code === "key_registered") return this.goOnByPassword(ended);
            // The queue of a candidate who was logged out stays: it goes on after the login.
            model.isLoggedOut = model.candidate !== null;
            // The cookie of a session that has ended may be that of an earlier user of the browser, in whose place others log in.
            const isOwn = ended?.resource_uri === model.candidate?.resource_uri;
            model.ended = api.key || (model.isLoggedOut && isOwn) ? ended : null;
            if (kind === "login" && company && !model.isLoggedOut) await this.meet(company);
            await this.clearAfterEnd();
            model.isLoaded = true;
            return;
        }
        model.isLoggedOut = false;
        model.ended = null;
        await app.speak();
        await app.follow();
        model.isLoaded = true;
        app.queue?.resume();
        app.drafts.each((draft) => draft.send());
        // By the clock of the service, which comes with the interview. What fails is tried again at the next load.
        if (model.candidate && model.interview) tidyUp(model.candidate, api.now()).catch(() => undefined);
    }

    /**
     * Goes on as a candidate who has a password: with their session, if this browser has it, else by the login.
     * @param {import("./types.js").EndedKey} ended
     * @returns {Promise<void>}
     */
    async goOnByPassword(ended) {
        const { model, api } = this.app;
        api.key = undefined;
        model.ended = ended;
        model.link = { kind: "login", company: companyIn(ended.company.resource_uri) };
        const own = await api.get("/whoami/candidate/").catch((/** @type {unknown} */ error) => {
            if (!(error instanceof ApiError && error.isAboutAccess)) throw error;
        });
        // Another candidate may be logged in, whose interview this is not.
        if (own?.resource_uri === ended.resource_uri) return this.load();
        model.isLoggedOut = model.candidate !== null;
        model.isLoaded = true;
    }

    /** Learns whom the link is for, if its key is still good. @param {string} [key] */
    async meetHolder(key) {
        const { model, api } = this.app;
        try {
            const holder = (await api.send("POST", "/whoami/key/", { key })).body;
            model.keyKind = holder.kind;
            await this.meet(companyIn(holder.company));
            model.holder = holder;
        } catch (error) {
            if (!(error instanceof ApiError) || error.status !== 400) throw error;
            if (error.code === "key_ended") {
                const { kind, company } = /** @type {import("./types.js").KeyHolder} */ (/** @type {unknown} */ (error.body));
                model.keyKind = kind;
                await this.meet(companyIn(company));
            }
        }
        model.isLoaded = true;
    }

    /** Leads to the login of a company, where the address is filled in. @param {string} company its reference @param {string} email */
    goToLogin(company, email) {
        this.app.model.link = { kind: "login", company: companyIn(company), email };
        history.replaceState(null, "", loginOf(company));
        this.app.render();
    }

    /** Learns what the login of a company tells. @param {string} company */
    async meet(company) {
        const { model, api } = this.app;
        try {
            model.company = await api.get(`/companies/${encodeURIComponent(company)}/login/`);
        } catch (error) {
            if (!(error instanceof ApiError) || error.status !== 404) throw error;
            model.link = { kind: "wrong" };
        }
    }

    /**
     * Reads why the key of the link has ended, or without one, whether the session has ended with the interview; null if neither
     * tells.
     * @throws {ApiError} if that cannot be read now
     */
    async readEnd() {
        const { key, api } = this.app;
        const asked = new Api(api.base, key).get("/whoami/candidate/");
        return asked.then(() => null, (/** @type {unknown} */ error) => {
            if (error instanceof ApiError && error.isTransient) throw error;
            const ended = endOf(error);
            // The cookie may be that of another candidate, who has logged in since in another window.
            return key || ended?.resource_uri === this.app.model.candidate?.resource_uri ? ended : null;
        });
    }

    /**
     * After a request was refused for who has sent it: learns why, as far as the key of the link or the session tells. Returns the error if
     * that cannot be read now. Until it can, the page does not say that the link is bad.
     */
    async lose() {
        const { model, api } = this.app;
        if (!model.candidate) return null;
        /** @type {ApiError | null} */
        let unread = null;
        try {
            // The screen stays until the reason is known: the login would promise to send what may have to be deleted.
            model.ended ??= await this.readEnd();
            model.isLoggedOut = true;
            if (api.key && model.ended?.code === "key_registered") await this.goOnByPassword(model.ended);
            await this.clearAfterEnd();
        } catch (error) {
            if (!(error instanceof ApiError)) throw error;
            model.isLoggedOut = true;
            unread = error;
            model.isBusy = error.status !== 0;
        }
        model.isLoaded = !unread;
        this.app.render();
        return unread;
    }

    /** Tells a candidate whose login was refused because the company has cancelled the interview. @param {import("./types.js").EndedKey} ended */
    async endByLogin(ended) {
        const { model } = this.app;
        // Another candidate may have used the page before.
        if (model.candidate?.resource_uri !== ended.resource_uri) model.candidate = model.interview = null;
        model.ended = ended;
        await this.clearAfterEnd();
    }

    /** Completed on another device, or cancelled by the company: nothing of this one can be sent any more. */
    async clearAfterEnd() {
        const { model, api } = this.app;
        const { candidate, interview, ended, step } = model;
        if (!candidate) {
            // Whichever page has left it on this device.
            if (ended?.code === "withdrawn") await tidyUp({ resource_uri: ended.resource_uri, status: "skipped" }, api.now()).catch(() => undefined);
            return;
        }
        if (ended?.code === "withdrawn") {
            // Set here, since nothing can be read any more. A recording that went on would be for nobody.
            model.step = { name: "welcome" };
            candidate.status = "skipped";
            if (interview) interview.status = "skipped";
        } else if (ended?.code !== "interview_completed" || step.name === "record") {
            return;
        }
        await this.app.clear(candidate);
    }

    /**
     * Tells the service, once, that a person has opened the interview: programs that check links in mails load the page too, but press
     * nothing in it.
     */
    async noteOpening() {
        const { model, api } = this.app;
        if (this.isOpened || !model.candidate || model.isLoggedOut) return;
        this.isOpened = true;
        try {
            await api.send("GET", "/whoami/candidate/?opened=true", undefined, { keepalive: true });
        } catch (error) {
            if (!(error instanceof ApiError)) throw error;
            // A later press tells it, if another try can succeed.
            this.isOpened = !error.isTransient;
        }
    }

    /** Ends the session, and leaves nothing of the candidate on the screen or in the memory of the page. */
    async logOut() {
        const { app } = this;
        const { company } = /** @type {import("./types.js").Candidate} */ (app.model.candidate);
        await app.drafts.flush();
        if ((app.queue?.isUnsent || !app.drafts.areSaved) && !confirm(app.texts.logOutUnsent)) return;
        try {
            await app.api.send("POST", "/api-session-invalidate/");
        } catch (error) {
            // It has ended already, perhaps by an attempt whose answer was lost.
            if (!(error instanceof ApiError && error.isAboutAccess)) throw error;
        }
        app.isLeaving = true;
        location.replace(loginOf(company.resource_uri));
    }
}

/** The end of a candidate's key or login, as a refusal tells it; null if it was no candidate's. @param {unknown} error */
export const endOf = (error) =>
    error instanceof ApiError && error.body.company ? /** @type {import("./types.js").EndedKey} */ (/** @type {unknown} */ (error.body)) : null;

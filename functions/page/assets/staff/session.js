// Who the reader is. A session may end, or become another account's in another window, at any time.

import { ApiError } from "../api.js";
import { companyIn } from "../links.js";
import { homeOf } from "./address.js";

/**
 * @typedef {object} Account what `whoami/` tells
 * @property {"customer" | "candidate" | "named_token"} kind
 * @property {string} company
 * @property {string[]} permissions
 * @property {{ resource_uri: string, first_name: string, last_name: string, username: string, projects: string }} resource
 */

/** What windows of this page tell each other: that somebody has signed in. */
const SIGNED_IN = "signed-in";

export class Session {
    /** @param {import("../api.js").Api} api @param {string} company that of the address */
    constructor(api, company) {
        this.api = api;
        this.company = company;
        this.windows = new BroadcastChannel("staff");
    }

    /** Who is signed in; null if nobody is. @param {number} [patience] @returns {Promise<Account | null>} */
    async read(patience) {
        try {
            return await this.api.get("/whoami/", patience);
        } catch (error) {
            if (error instanceof ApiError && error.status === 401) return null;
            throw error;
        }
    }

    /** Who is signed in, if this page is theirs. @returns {Promise<Account>} @throws {ApiError} as the API refuses others */
    async readOwn() {
        const account = /** @type {Account} */ (await this.api.get("/whoami/"));
        if (account.kind !== "customer" || companyIn(account.company) !== this.company) throw new ApiError(404, {});
        return account;
    }

    /**
     * Signs in. Returns the account, or null for a refusal: it is the same for an unknown company, an unknown name and a wrong password.
     * @param {string} username
     * @param {string} password
     * @returns {Promise<Account | null>}
     */
    async begin(username, password) {
        /** @type {Account} */
        let account;
        try {
            account = (await this.api.send("POST", "/api-session-auth/", { company: this.company, username, password })).body;
        } catch (error) {
            if (error instanceof ApiError && (error.status === 400 || error.status === 401)) return null;
            throw error;
        }
        // Candidates have no business here, and their session is not for this page.
        if (account.kind === "candidate") await this.end();
        else this.windows.postMessage(SIGNED_IN);
        return account;
    }

    /** Calls `action` when somebody has signed in in another window. @param {() => unknown} action */
    onSignIn(action) {
        this.windows.addEventListener("message", ({ data }) => data === SIGNED_IN && action());
    }

    /** Ends the session. */
    async end() {
        try {
            await this.api.send("POST", "/api-session-invalidate/");
            this.windows.postMessage(SIGNED_IN);
        } catch (error) {
            // It has ended already, perhaps by an attempt whose answer was lost.
            if (!(error instanceof ApiError && error.isAboutAccess)) throw error;
        }
    }

    /** Opens a window to sign in again, beside what was typed in this one. */
    openWindow() {
        open(`${homeOf(this.company)}?again`, "_blank");
    }

    /** Tells the other windows of a sign-in by the company's provider, which has led back to this one. Returns whether somebody is signed in. */
    async announce() {
        const account = await this.read();
        if (account) this.windows.postMessage(SIGNED_IN);
        return account !== null;
    }

    /** The address to sign in by the company's provider; null if there is none, or if that cannot be read now: the form is there all the same. */
    async readSignInUrl() {
        try {
            const login = await this.api.get(`/companies/${encodeURIComponent(this.company)}/login/`, 5000);
            return /** @type {import("../types.js").CompanyLogin} */ (login).sign_in_url ?? null;
        } catch (error) {
            if (!(error instanceof ApiError)) throw error;
            return null;
        }
    }

    /** Why the service does not show what the address names. @returns {Promise<"signIn" | "candidate" | "company" | "gone">} */
    async explain() {
        const account = await this.read();
        if (!account) return "signIn";
        if (account.kind !== "customer") return "candidate";
        return companyIn(account.company) === this.company ? "gone" : "company";
    }
}

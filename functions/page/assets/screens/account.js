// The account that a key in a mail is for: where its holder logs in, and what staff need for that.

import { button, element, factList } from "../dom.js";
import { buttonTo, companyIn } from "../links.js";

/** The facts that staff need to log in; null for candidates. @param {import("../main.js").App} app */
export function accountFacts({ model: { company, holder, keyKind }, texts: { account } }) {
    if (!company || keyKind !== "customer") return null;
    const { name, company: reference } = company;
    const address = applicationOf(company);
    const link = element("a", { href: address, rel: "noreferrer", referrerpolicy: "no-referrer" }, address);
    return factList([
        [account.company, element("bdi", {}, name)],
        [account.identifier, companyIn(reference)],
        holder && [account.name, element("bdi", {}, holder.username)],
        [account.login, link],
    ]);
}

/** Where the staff of a company work: in its own application, else on the page of this service. @param {import("../types.js").CompanyLogin} company */
export const applicationOf = ({ app_url: own, company }) => own || `${location.origin}/staff/${encodeURIComponent(companyIn(company))}/`;

/**
 * The button that leads on: staff to where they work, and candidates to their login.
 * @param {import("../main.js").App} app
 * @param {string} [email] the address of the candidate
 */
export function wayOn(app, email = "") {
    const { company, keyKind } = app.model;
    if (!company || !keyKind) return null;
    if (keyKind === "customer") return buttonTo(applicationOf(company), app.texts.toApp);
    return button(app.texts.login.submit, () => app.access.goToLogin(company.company, email), { class: "main" });
}

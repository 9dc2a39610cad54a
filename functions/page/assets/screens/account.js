// The account that a key in a mail is for: where its holder logs in, and what staff need for that.

import { button, element, factList } from "../dom.js";
import { buttonTo, companyIn } from "../links.js";

/** The facts that staff need to log in; null for candidates. @param {import("../main.js").App} app */
export function accountFacts({ model: { company, holder, keyKind }, texts: { account } }) {
    if (!company || keyKind !== "customer") return null;
    const { name, company: reference, app_url: address } = company;
    const link = address && element("a", { href: address, rel: "noreferrer", referrerpolicy: "no-referrer" }, address);
    return factList([
        [account.company, element("bdi", {}, name)],
        [account.identifier, companyIn(reference)],
        holder && [account.name, element("bdi", {}, holder.username)],
        [account.login, link || account.ask],
    ]);
}

/**
 * The button that leads on: staff to their application, if there is one, and candidates to their login.
 * @param {import("../main.js").App} app
 * @param {string} [email] the address of the candidate
 */
export function wayOn(app, email = "") {
    const { company, keyKind } = app.model;
    if (!company || !keyKind) return null;
    if (keyKind === "customer") return company.app_url && buttonTo(company.app_url, app.texts.toApp);
    return button(app.texts.login.submit, () => app.access.goToLogin(company.company, email), { class: "main" });
}

// Whose interview it is, and what surrounds it.

import { ApiError } from "../api.js";
import { button, element, factList, field, fill } from "../dom.js";
import { duration, filled } from "../language.js";
import { homeOf, pageOf } from "./address.js";

/** @typedef {import("../staff.js").Staff} Staff */
/** @typedef {import("./interview.js").Interview} Interview */

/** @param {Staff} app @param {Interview} shown */
export function showHead(app, shown) {
    const { texts } = app;
    const { candidate, interview, project, answers } = shown;
    const name = interview?.project_name ?? project?.name;
    const way = project ? element("a", { href: pageOf(project.resource_uri), dir: "auto" }, project.name) : element("bdi", {}, name);
    const seconds = answers.reduce((/** @type {number} */ sum, /** @type {any} */ answer) => sum + (answer.seconds ?? 0), 0);
    const date = candidate.interviewdate ?? interview?.ended_at;
    const facts = factList([
        [texts.head.status, texts.statuses[candidate.status]],
        date && [texts.head.date, app.dateText(date)],
        seconds > 0 && [texts.head.length, duration(texts, seconds)],
        candidate.cv && [texts.head.cv, element("a", { href: candidate.cv, target: "_blank", rel: "noopener noreferrer" }, texts.head.open)],
    ]);
    const photo = candidate.photo && element("img", { class: "photo", src: candidate.photo, alt: filled(texts.head.photo, { name: shown.name }) });
    // Only managers see whether a candidate is on hold.
    const isManager = candidate.is_on_hold !== undefined;
    // No guest is shown the answers of an interview that was cancelled.
    const hasGuests = isManager && answers.length > 0 && candidate.status !== "skipped";
    return [
        element("p", { class: "about" }, element("a", { href: homeOf(app.place.company) }, texts.home.title), name && [" › ", way]),
        shown.answers.length === 0 && shown.waits && element("p", { class: "note" }, texts.waits[shown.waits]),
        element("details", { class: "more" }, element("summary", {}, texts.head.title), element("div", { class: "facing" }, photo, facts), hasGuests && guestLink(app, shown)),
    ];
}

/** A link for a person without an account. @param {Staff} app @param {Interview} shown */
function guestLink(app, shown) {
    const { guest } = app.texts;
    const recipient = field(guest.recipient, { name: "recipient", maxlength: 100, required: true, autocomplete: "off", dir: "auto" }, { hint: guest.hint });
    const made = element("div", { role: "status" });
    const make = async () => {
        recipient.refuse();
        fill(made);
        try {
            const { body } = await app.api.send("POST", `${shown.candidate.resource_uri}guest-links/`, { recipient: recipient.input.value });
            const address = element("input", { readonly: true, value: body.url, "aria-label": guest.link, onfocus: () => address.select() });
            const copied = element("p", { class: "hint", role: "status" });
            const copy = async () => {
                // Browsers may forbid it: the text is selected then, to be copied by hand.
                address.select();
                await navigator.clipboard.writeText(body.url).then(() => fill(copied, guest.copied), () => {});
            };
            fill(made, element("p", {}, filled(guest.made, { date: app.dateText(body.expires_at) })), address, button(guest.copy, copy), copied);
            recipient.input.value = "";
            address.focus();
            address.scrollIntoView({ block: "center" });
        } catch (error) {
            if (!(error instanceof ApiError)) throw error;
            app.notice.note(error);
            recipient.refuse(app.refusalText(error));
        }
    };
    return element("form", {
        class: "guest",
        onsubmit: (/** @type {Event} */ event) => {
            event.preventDefault();
            return make();
        },
    }, element("h2", {}, guest.title), recipient.whole, element("button", {}, guest.submit), made);
}

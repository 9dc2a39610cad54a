// What the others say of a candidate, as far as the API shows it: to evaluators once they have completed their own evaluation.

import { ApiError } from "../api.js";
import { button, element, factList, fill } from "../dom.js";
import { filled } from "../language.js";

/** @typedef {import("../staff.js").Staff} Staff */
/** @typedef {import("./interview.js").Interview} Interview */

/** @param {Staff} app @param {Interview} shown @returns {import("./fields.js").Field} */
export function showOthers(app, shown) {
    const { texts } = app;
    const { candidate, project, draft } = shown;
    const whole = element("section", { class: "others" });
    let read = "";
    /** Whether the reader may see them now. @returns {boolean} */
    const isOpen = () => project && (!candidate.my_evaluation || (draft?.isCompleted ?? candidate.my_evaluation_status === "completed"));
    const load = async () => {
        if (!whole.hasChildNodes()) tell(texts.loading);
        try {
            const [result, people, written] = await Promise.all([
                app.api.get(`${project.results}${candidate.resource_uri.split("/").at(-2)}/`),
                app.api.get(`${project.resource_uri}?expand=evaluators`),
                app.api.get(`${candidate.resource_uri}evaluations/?page_size=100`),
            ]);
            shown.hasVetoed = result.vetos.some((/** @type {any} */ { evaluator }) => candidate.my_evaluation?.endsWith(`/${evaluator.split("/").at(-2)}/`));
            const names = new Map(people.evaluators.map((/** @type {any} */ one) => [one.resource_uri, `${one.first_name} ${one.last_name}`]));
            fill(whole, resultOf(app, shown, result, names, new Map(written.objects.map((/** @type {any} */ one) => [one.evaluator, one]))));
        } catch (error) {
            if (!(error instanceof ApiError)) throw error;
            app.notice.note(error);
            tell(error.status === 404 ? texts.others.none : app.refusalText(error), error.isTransient && button(texts.tryAgain, load));
        }
        app.render();
    };
    /** Says why they are not shown. @param {string} text @param {import("../dom.js").Child} [way] */
    const tell = (text, way) => fill(whole, element("h2", {}, texts.others.title), element("p", { class: "hint", role: "status" }, text), way);
    return {
        whole,
        update() {
            // The own evaluation is among them.
            const wished = isOpen() ? String(draft?.tag) : "";
            if (wished === read) return;
            read = wished;
            if (wished) load();
            else fill(whole);
        },
    };
}

/**
 * @param {Staff} app
 * @param {Interview} shown
 * @param {any} result
 * @param {Map<string, string>} names those of evaluators
 * @param {Map<string, any>} written the evaluations, which tell what they said first
 */
function resultOf({ texts, dateText }, shown, result, names, written) {
    const { others, recommendations } = texts;
    const { project } = shown;
    const numberText = (/** @type {number} */ value) => value.toLocaleString(document.documentElement.lang);
    const rating = (/** @type {number | null} */ value) => (value === null ? "–" : `${numberText(value)} / ${result.maximum_score}`);
    const titles = new Map([
        ...result.question_results.map((/** @type {any} */ { question, question_text: text }) => [question, text]),
        ...project.criteria.map((/** @type {any} */ { resource_uri: criterion, name }) => [criterion, name]),
    ]);
    const title = (/** @type {string} */ reference) => element("bdi", { class: "short" }, titles.get(reference));
    const means = [...result.question_results, ...result.criteria_results].map(({ question, criterion, average_rating: mean }) =>
        [title(question ?? criterion), rating(mean)]);
    const comment = (/** @type {string} */ text) => text && element("blockquote", { dir: "auto" }, text);
    const personal = (/** @type {any} */ { evaluator, recommendation, comment: text, completed_at: at }) => {
        const evaluation = written.get(evaluator);
        const { first } = evaluation ?? {};
        const isOther = first && first.recommendation !== recommendation;
        /** The value that was given first, if it was another one. @param {any} one */
        const firstValue = ({ question, criterion, value }) => {
            if (!evaluation?.changed_at || !first) return null;
            const found = first.ratings.find((/** @type {any} */ rated) => (rated.question ?? rated.criterion) === (question ?? criterion));
            return found?.value !== value && ` (${filled(others.first, { value: rating(found?.value ?? null) })})`;
        };
        return element("section", { class: "item" },
            element("h3", {}, element("bdi", {}, names.get(evaluator) ?? others.former)),
            element("p", { class: "hint" }, [
                recommendations[recommendation ?? "none"],
                isOther && filled(others.first, { value: recommendations[first.recommendation ?? "none"] }),
                filled(others.at, { date: dateText(at) }),
                first && (first.by_token ? others.sent : first.blind ? others.blind : others.read),
                evaluation?.changed_at && filled(others.changed, { date: dateText(evaluation.changed_at) }),
            ].filter(Boolean).join(" · ")),
            comment(text),
            result.vetos.filter((/** @type {any} */ veto) => veto.evaluator === evaluator).map((/** @type {any} */ veto) => [element("p", { class: "problem" }, others.veto), comment(veto.comment)]),
            element("ul", {}, result.ratings.filter((/** @type {any} */ one) => one.evaluator === evaluator).map((/** @type {any} */ one) =>
                element("li", {}, title(one.question ?? one.criterion), element("b", {}, rating(one.value)), firstValue(one), comment(one.comment)))));
    };
    return [
        element("h2", {}, others.title),
        factList([[others.overall, rating(result.overall_rating)], ...means]),
        result.evaluations.map(personal),
    ];
}

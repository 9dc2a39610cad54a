// The evaluation as a whole: what the reader says of the candidate, and what the others say once that is complete.

import { ApiError } from "../api.js";
import { button, element, fill } from "../dom.js";
import { filled } from "../language.js";
import { pageOf } from "./address.js";
import { fieldOf } from "./draft.js";
import { ratingOf, recommendationField, textField, together } from "./fields.js";
import { showOthers } from "./others.js";
import { savePanel } from "./saving.js";

/** @typedef {import("../staff.js").Staff} Staff */
/** @typedef {import("./interview.js").Interview} Interview */
/** @typedef {import("./draft.js").Draft} Draft */

/** The bounds of a veto's text. */
const VETO = { minlength: 15, maxlength: 600 };

/** @param {Staff} app @param {Interview} shown */
export function showEvaluation(app, shown) {
    const { texts } = app;
    const { draft, answers, obstacle } = shown;
    const judging = draft && showJudging(app, shown, draft);
    const others = showOthers(app, shown);
    const onward = element("div", { class: "ways" });
    return {
        content: [
            (draft || answers.length > 0) && element("h2", { tabindex: -1 }, texts.judge.title),
            // Before the interview, the head says what is waited for.
            obstacle && answers.length > 0 && element("p", { class: "note" }, texts.obstacles[obstacle] ?? texts.obstacles.other),
            judging?.whole,
            onward,
            others.whole,
            answers.length > 0 && element("div", { class: "ways" }, button(texts.judge.toAnswers, () => app.goTo(answers.length))),
        ],
        update() {
            judging?.update();
            const isDone = draft?.isCompleted && !draft.isEditing;
            if (Boolean(isDone) !== onward.hasChildNodes()) fill(onward, isDone && element("a", { class: "main", href: pageOf(shown.project.resource_uri) }, texts.judge.toProject));
            others.update();
        },
    };
}

/** @param {Staff} app @param {Interview} shown @param {Draft} draft @returns {import("./fields.js").Field} */
function showJudging(app, shown, draft) {
    const { judge } = app.texts;
    const { project, answers } = shown;
    // Questions with answers are rated beside these.
    const items = [...(answers.length === 0 ? project.questions : []), ...project.criteria];
    const ratings = items.map((item) => {
        const rating = ratingOf(app, draft, item);
        const about = item.description ?? item.internal_description;
        const whole = element("section", { class: "item" }, element("h3", { dir: "auto" }, item.name ?? item.text), about && element("p", { class: "hint", dir: "auto" }, about), rating.whole);
        return { ...rating, whole };
    });
    const recommendation = recommendationField(app, draft);
    const comment = textField(app, draft, "comment", judge.overall, { maxlength: 2000, rows: 6 });
    const panel = savePanel(app, draft);
    const dialog = completion(app, shown, draft);
    const complete = button(judge.complete, () => dialog.open(), { class: "main", "aria-haspopup": "dialog" });
    const veto = vetoOf(app, shown, draft);
    const all = together([...ratings, recommendation, comment, panel]);
    all.whole.append(complete, dialog.whole, veto.whole);
    return {
        whole: all.whole,
        update() {
            all.update();
            complete.hidden = draft.isCompleted;
            veto.update();
        },
    };
}

/** What an evaluation lacks, by name. @param {Staff} app @param {Interview} shown @param {Draft} draft */
function missingIn({ texts }, shown, draft) {
    const { judge } = texts;
    const unrated = shown.items.filter(({ resource_uri: item }) => draft.get(fieldOf(item, "value")).trim() === "");
    const named = unrated.map((item) => {
        const number = shown.project.questions.indexOf(item) + 1;
        return number > 0 ? filled(judge.missingQuestion, { n: number }) : filled(judge.missingCriterion, { name: `\u2068${item.name}\u2069` });
    });
    return [...named, !draft.get("recommendation") && judge.missingRecommendation, !draft.get("comment").trim() && judge.missingComment].filter(Boolean);
}

/** Asks whether the evaluation is to be completed, and says what it lacks. @param {Staff} app @param {Interview} shown @param {Draft} draft */
function completion(app, shown, draft) {
    const { texts } = app;
    const { judge } = texts;
    let isSending = false;
    const dialog = element("dialog", { "aria-labelledby": "completing", oncancel: (/** @type {Event} */ event) => isSending && event.preventDefault() });
    const back = button(texts.back, () => dialog.close());
    const problem = element("p", { class: "problem", role: "alert" });
    const complete = async () => {
        fill(problem);
        if (draft.isHeldBack) return fill(problem, texts.saving.held);
        isSending = back.disabled = true;
        await draft.save({ completed: true }).finally(() => (isSending = back.disabled = false));
        if (draft.isCompleted) {
            dialog.close();
            // The button that has opened it is gone.
            /** @type {HTMLElement | null} */ (dialog.parentElement?.querySelector(".ways button"))?.focus();
            return app.reread();
        }
        const { refusal, conflicts } = draft;
        // What the form asks, or the page says, comes first.
        if (refusal?.isAboutAccess) await app.notice.look();
        if (conflicts.size > 0 || app.notice.kind) return dialog.close();
        if (refusal) fill(problem, app.refusalText(refusal));
    };
    return {
        whole: dialog,
        open() {
            const missing = missingIn(app, shown, draft);
            // The service completes no evaluation without a value.
            const isRated = shown.items.some(({ resource_uri: item }) => draft.get(fieldOf(item, "value")).trim() !== "");
            fill(problem);
            fill(dialog,
                element("h2", { id: "completing", tabindex: -1, autofocus: true }, judge.completing),
                !isRated && element("p", {}, texts.refusals.nothing_rated),
                isRated && missing.length > 0 && element("p", {}, judge.missing),
                missing.length > 0 && element("ul", {}, missing.map((line) => element("li", {}, line))),
                isRated && element("p", {}, judge.consequence),
                problem,
                isRated && button(judge.completeNow, complete, { class: "main" }),
                back);
            dialog.showModal();
        },
    };
}

/** The veto, where the project has it. @param {Staff} app @param {Interview} shown @param {Draft} draft @returns {import("./fields.js").Field} */
function vetoOf(app, shown, draft) {
    const { texts } = app;
    const { veto } = texts;
    if (!shown.project.veto_enabled) return { whole: element("div"), update() {} };
    const text = element("textarea", { id: "veto", rows: 4, dir: "auto", required: true, ...VETO, oninput: () => (shown.vetoText = text.value) });
    text.value = shown.vetoText;
    const problem = element("p", { class: "problem", role: "alert" });
    const form = element("form", {
        onsubmit: async (/** @type {Event} */ event) => {
            event.preventDefault();
            fill(problem);
            try {
                await draft.save();
                // Its address names no evaluator: whoever is signed in by now would cast it, for good.
                await app.notice.compare();
                if (app.notice.kind) return fill(problem, filled(app.texts.notice[app.notice.kind], { name: app.notice.name }));
                await app.api.send("POST", `${shown.candidate.resource_uri}vetos/`, { comment: text.value });
                shown.vetoText = text.value = "";
                whole.open = false;
                await draft.refresh();
                await app.reread();
            } catch (error) {
                if (!(error instanceof ApiError)) throw error;
                app.notice.note(error);
                fill(problem, app.refusalText(error));
            }
        },
    }, element("p", {}, veto.text), element("div", { class: "field" }, element("label", { for: "veto" }, veto.label), text), problem, element("button", {}, veto.submit));
    const whole = element("details", { class: "more", open: text.value !== "" }, element("summary", {}, veto.title), form);
    return { whole, update: () => (whole.hidden = shown.hasVetoed) };
}

// Which screen is shown: a pure function of what the page knows.

/**
 * @typedef {import("./types.js").Interview} Interview
 * @typedef {import("./types.js").Answer} Answer
 * @typedef {import("./types.js").Question} Question
 * @typedef {import("./queue.js").LocalTake} LocalTake
 *
 * @typedef {object} Link where the address of the page leads
 * @property {"register" | "interview" | "login" | "reset" | "activate" | "confirm" | "restore" | "wrong"} kind
 * @property {string} [company]
 * @property {string} [key]
 * @property {string} [email] the address that a login is of, if the page knows it
 *
 * @typedef {"welcome" | "check" | "practice" | "overview" | "question" | "connect" | "prepare" | "record" | "review" | "write" | "complete" | "sending"} StepName
 *
 * @typedef {object} Step where the candidate is, as far as the service does not say
 * @property {StepName} name
 * @property {string} [question]
 * @property {boolean} [isCounted] whether the candidate has seen a countdown
 *
 * @typedef {object} Model what the page knows
 * @property {Link} link
 * @property {import("./types.js").Candidate | null} candidate
 * @property {import("./types.js").EndedKey | null} ended why the key of the link opens nothing, if it was a candidate's
 * @property {import("./types.js").CompanyLogin | null} company the company that a login is of
 * @property {import("./types.js").KeyHolder | null} holder whose password or address the link is for
 * @property {import("./types.js").KeyHolder["kind"] | null} keyKind of what kind the account is that the key came to, even once it has ended
 * @property {Interview | null} interview
 * @property {Question[]} questions
 * @property {LocalTake[]} takes
 * @property {{ question: string, isDraft: boolean, isSaved: boolean }[]} drafts what the candidate has written in this window
 * @property {boolean} isLoaded
 * @property {boolean} isBusy whether the service has answered what could not be loaded, though not as it should
 * @property {boolean} isLoggedOut
 * @property {boolean} isOtherWindow
 * @property {Step} step
 * @property {number} now the time of the service
 *
 * @typedef {"link" | "wrong" | "used" | "usedAddress" | "completed" | "replaced" | "external" | "expired" | "ended" | "aborted" | "skipped" | "time" | "window" | "waiting" | "offline" | "busy"} OverReason
 *
 * @typedef {object} Screen
 * @property {"login" | "password" | "address" | "over" | "done" | StepName} name
 * @property {OverReason} [reason]
 * @property {string} [question]
 * @property {boolean} [isCounted]
 */

/** What became of a candidate whose key has ended. @type {Record<string, OverReason>} */
const ENDS = { interview_completed: "completed", deadline_passed: "expired", withdrawn: "skipped", key_replaced: "replaced" };

/**
 * The screen for a state.
 * @param {Model} model
 * @returns {Screen}
 */
export function screenOf(model) {
    const { link, candidate, ended, interview, step } = model;
    if (link.kind === "wrong") return over("wrong");
    // Whatever happens meanwhile: a recording is brought to its end first.
    if (step.name === "record") return step;
    if (!model.isLoaded) return over(model.isBusy ? "busy" : "offline");
    if (link.kind === "reset" || link.kind === "activate") return model.holder ? { name: "password" } : over("used");
    if (link.kind === "confirm" || link.kind === "restore") return model.holder ? { name: "address" } : over("usedAddress");
    // The key of an invitation ends with the interview: candidates who have completed it are not told that the link is bad.
    const status = interview?.status ?? candidate?.status;
    if (status === "interviewed") return { name: "done" };
    // The session has ended with the interview: nothing can be sent any more.
    if (model.isLoggedOut && status === "interviewing" && isClosed(interview, model.now)) return over("time");
    if (ended?.ended_by_time) return over("ended");
    if (ended && ended.code in ENDS) return over(ENDS[ended.code]);
    if (model.isLoggedOut || !candidate) return link.key ? over("link") : { name: "login" };
    if (candidate.project.interview_platform === "external") return over("external");
    switch (status) {
        case "aborted":
            return over(interview?.ended_by_time ? "ended" : status);
        case "expired":
        case "skipped":
            return over(status);
        case "interviewing":
            return model.isOtherWindow ? over("window") : during(model);
        case "confirmed":
            if (model.isOtherWindow) return over("window");
            // Without questions, or before the project's are set, there is no interview.
            if (!interview) return over("waiting");
            return ["check", "practice"].includes(step.name) ? step : { name: "welcome" };
        default:
            return { name: "welcome" };
    }
}

/** @param {Model} model @returns {Screen} */
function during(model) {
    const { step, interview } = model;
    if (step.name === "check") return step;
    const unfinished = model.takes.find((take) => isUnfinished(take));
    const question = step.question && questionOf(model, step.question);
    if (unfinished) {
        // Candidates who record again decide so with the former recording still at hand.
        const isSame = question && step.question === unfinished.record.question;
        const isAgain = step.name === "connect" || (step.name === "question" && unfinished.slices.length > 0);
        return isSame && isAgain ? step : screenOfUnfinished(unfinished);
    }
    if (question && step.name === "review") return step;
    const isSending = model.takes.some(({ record }) => record.isEnded && !record.refusal);
    const isOver = Boolean(interview?.ends_at) && model.now >= Date.parse(interview?.ends_at ?? "");
    // What was recorded in time is sent, and completes the interview if nothing is missing.
    if (isOver) return isSending || isComplete(model) ? { name: "sending" } : over("time");
    if (step.name === "sending" && (isSending || isComplete(model))) return step;
    if (step.name === "complete" && isComplete(model)) return step;
    const isPreparing = step.name === "prepare" && takeOf(model, step.question ?? "") !== undefined;
    return question && (isPreparing || ["question", "connect", "write"].includes(step.name)) ? step : { name: "overview" };
}

/**
 * A take that was begun in this browser and not ended: while nothing was recorded, its time goes on; afterwards the candidate
 * decides whether to keep it.
 * @param {LocalTake} take
 * @returns {Screen}
 */
function screenOfUnfinished({ record, slices }) {
    const { question } = record;
    return { name: slices.length > 0 ? "review" : "prepare", question };
}

/** Whether the service takes nothing more, not even what was on its way when the time was over. @param {Interview | null} interview @param {number} now */
export const isClosed = (interview, now) => Boolean(interview?.closes_at) && now >= Date.parse(interview?.closes_at ?? "");

/** Whether a recording waits for the candidate. A file that is still being read is no recording. @param {LocalTake} take */
export const isUnfinished = ({ record }) => !record.isEnded && !record.refusal && record.source !== "file";

/** Whether all questions are answered in writing, so that the interview needs no camera. @param {Model} model */
export const isWritten = ({ interview }) => interview !== null && interview.questions > 0 && interview.answer_seconds === 0;

/** Whether nothing required is missing that is not on its way: drafts are answers once the interview is completed. @param {Model} model */
export function isComplete(model) {
    const { interview, takes } = model;
    const onTheWay = takes.filter(({ record }) => record.isEnded && !record.refusal).map(({ record }) => record.question);
    return interview?.missing.every((question) => onTheWay.includes(question) || hasDraft(model, question)) ?? false;
}

/** Whether the candidate has written something about a question that is not sent as an answer. @param {Model} model @param {string} question */
export function hasDraft(model, question) {
    const local = model.drafts.find((draft) => draft.question === question);
    return local ? local.isDraft : Boolean(answerTo(model, question)?.draft);
}

/** @param {Model} model @param {string} uri */
export const questionOf = (model, uri) => model.questions.find((question) => question.resource_uri === uri);

/** @param {Model} model @param {string} question @returns {Answer | undefined} */
export const answerTo = (model, question) => model.interview?.answers.find((answer) => answer.question === question);

/** @param {Model} model @param {string} question */
export const takeOf = (model, question) => model.takes.find(({ record }) => record.question === question);

/**
 * How far an answer is, in words of `texts.states`.
 * @param {Model} model
 * @param {string} question
 * @returns {"none" | "draft" | "written" | "sending" | "refused" | "unanswerable" | "elsewhere" | "kept" | "failed"}
 */
export function answerState(model, question) {
    const answer = answerTo(model, question);
    const local = takeOf(model, question);
    if (answer?.unanswerable && (!local || local.record.refusal)) return "unanswerable";
    if (local?.record.refusal) return "refused";
    if (local?.record.isEnded) return "sending";
    if (answer?.text !== null && answer?.text !== undefined) return "written";
    const isDraft = hasDraft(model, question);
    if (answer?.status === "failed") return isDraft ? "draft" : "failed";
    if (answer?.open_take && !local) return "elsewhere";
    return answer?.take ? "kept" : isDraft ? "draft" : "none";
}

/** @param {OverReason} reason @returns {Screen} */
const over = (reason) => ({ name: "over", reason });

// The page of staff in English. Every language has these texts; words in braces are filled in.

import { base, passing, player } from "../shared/en.js";

/** @type {import("../../language.js").Texts} */
export default {
    title: "Interviews",
    ...base,
    showPassword: "Show password",
    more: "Show more",
    signOut: "Sign out",
    leaveUnsaved: "Some of what you have typed is not saved. Leave this page and lose it?",
    signOutUnsaved: "Some of what you have typed is not saved. Sign out and lose it?",
    toInterview: "To the interview of the candidate",

    signIn: {
        title: "Sign in",
        company: "Company",
        name: "User name or email address",
        password: "Password",
        submit: "Sign in",
        forgotten: "I have forgotten my password",
        sent: "If there is such an account, you get an email with a link in a few minutes.",
        wrong: "Company, name or password are not right. Check all three and try again.",
    },

    over: {
        wrong: { title: "This address is incomplete", text: "Open the link where you got it again, or copy all of it into the address bar: some programs break long links." },
        gone: { title: "There is nothing here for you", text: "The candidate or the project was deleted or never existed, or you have no part in it. Ask those who sent you the link." },
        company: { title: "You are signed in with another company", text: "This address belongs to the company {company}. Sign out, and sign in with an account of that company." },
        candidate: { title: "This page is for staff", text: "You are signed in as a candidate. Your own interview is elsewhere. To use this page, sign out, and sign in with an account of the staff of {company}." },
        signedIn: { title: "You are signed in", text: "Go on in the other window: what you have typed there is still there. You can close this one." },
        offline: { title: "No connection", text: "The page could not be loaded. Check your connection and try again." },
        busy: { title: "The service is busy", text: "The page could not be loaded. Try again in a moment." },
    },

    home: {
        title: "My projects",
        all: "All projects of the company",
        account: "You are signed in as {name}.",
        none: "You have no part in a project yet. Project managers can add you.",
        waiting: "Waiting for you: {n}",
        nothing: "Nothing waits for you",
        interviewed: "Interviews: {n}",
    },

    project: {
        waiting: "Waiting for your evaluation ({n})",
        judged: "Evaluated by you ({n})",
        interviewed: "Interviews ({n})",
        ended: "Ended before they were complete, with answers",
        done: "Nothing waits for you in this project.",
        none: "Nobody has completed an interview yet.",
        rating: "Rating {rating}",
    },

    statuses: {
        new: "not invited yet",
        invited: "invited",
        confirmed: "confirmed",
        interviewing: "interview going on",
        interviewed: "complete",
        expired: "deadline passed",
        aborted: "ended before it was complete",
        skipped: "withdrawn by the company",
    },

    head: {
        title: "About the candidate",
        status: "Interview",
        date: "Date",
        length: "Recorded answers, all together",
        cv: "CV",
        open: "Open the CV",
        photo: "Photo of {name}",
    },

    waits: {
        new: "The candidate is not invited yet. The answers will be here once the interview is complete.",
        invited: "The candidate is invited and has not begun. The answers will be here once the interview is complete.",
        confirmed: "The candidate has accepted the invitation. The answers will be here once the interview is complete.",
        interviewing: "The interview is going on. The answers will be here once it is complete.",
        reopened: "The interview was reopened: the candidate may change the answers. They will be here again once it is complete.",
        expired: "The deadline has passed without an interview. There are no answers.",
        aborted: "The interview ended before it was complete. There are no answers.",
        skipped: "The company has withdrawn the invitation. There are no answers.",
        elsewhere: "This interview took place on another platform, so there are no answers to watch here.",
    },

    guest: {
        title: "Show it to somebody without an account",
        recipient: "Who gets the link?",
        hint: "A name that you recognise, such as “Head of sales”. The guest does not see it.",
        submit: "Make a link for a guest",
        made: "Send this link yourself. Everyone who has it can watch the answers until {date}. It is not shown again.",
        link: "Link for the guest",
        copy: "Copy the link",
        copied: "Copied.",
    },

    question: {
        title: "Question {n} of {total}",
        list: "All questions",
        next: "Next",
        toEvaluation: "To the evaluation",
        close: "Close",
        written: "in writing",
        none: "no answer to watch",
    },

    player: {
        ...player,
        none: "The candidate has not answered this question.",
        lost: "The candidate could no longer answer this question: its time was over, and no attempt was left.",
        unfinished: "The candidate has begun an answer and not finished it.",
        failed: "This answer was recorded, but it cannot be played.",
    },

    judge: {
        title: "Evaluation",
        own: "Your rating",
        value: "Value, from 0 to {maximum}",
        wrong: "Type a number from 0 to {maximum} with at most one decimal.",
        comment: "Comment",
        rated: "your rating: {value}",
        recommendation: "Your recommendation",
        overall: "What do you think of the candidate?",
        complete: "Complete the evaluation…",
        completing: "Complete the evaluation?",
        missing: "This is still open. You can complete it all the same:",
        missingQuestion: "Question {n}: no value",
        missingCriterion: "{name}: no value",
        missingRecommendation: "No recommendation",
        missingComment: "No words about the candidate",
        consequence: "The others see your evaluation then, and you see theirs. You can change yours later.",
        completeNow: "Complete it now",
        toAnswers: "Back to the answers",
        toProject: "Back to the project",
    },

    recommendations: { none: "No recommendation", definitely_no: "Definitely not", no: "No", yes: "Yes", strong_yes: "Definitely" },

    obstacles: {
        reader: "You are no evaluator of this project, so you read only.",
        shared: "These answers were shared with you. Only the evaluators of the project judge them.",
        reopened: "The interview was reopened. You can evaluate it once it is complete again; your draft is kept.",
        time: "The time ended this interview before it was complete. Only complete interviews are evaluated.",
        aborted: "This interview ended before it was complete. Only complete interviews are evaluated.",
        skipped: "The company has withdrawn the invitation, so this interview is not evaluated.",
        expired: "The deadline has passed, so this interview is not evaluated.",
        other: "Only complete interviews are evaluated.",
    },

    conflict: {
        changed: "You have changed this in another window as well. There it says:",
        emptied: "You have emptied this in another window.",
        mine: "Keep what is here",
        theirs: "Take the other one",
    },

    saving: {
        nothing: "What you type is saved as a draft by itself. Only you see it.",
        saved: "Saved as a draft. Only you see it.",
        unsaved: "Not saved yet.",
        saving: "Saving…",
        offline: "No connection. What you have typed waits in this page, and is saved once the connection is back: do not close it.",
        busy: "The service is busy. What you have typed waits in this page, and is saved in a moment: do not close it.",
        signedOut: "You are signed out. What you have typed waits in this page: do not close it.",
        held: "One of the fields needs your attention before it can be saved.",
        completed: "You have completed this evaluation on {date}.",
        completedElsewhere: "You have completed this evaluation in another window on {date}.",
        changed: "Your changes are not saved yet. The others see them once you save.",
        change: "Change",
        save: "Save changes",
        discard: "Discard changes",
    },

    veto: {
        title: "Veto this candidate",
        text: "A veto completes the evaluation of this candidate for all, and your own. It cannot be taken back.",
        label: "Why? At least 15 characters.",
        submit: "Veto for good",
    },

    others: {
        title: "What all evaluators say",
        overall: "Overall rating",
        none: "Nobody has completed an evaluation yet.",
        former: "An evaluator",
        at: "completed on {date}",
        veto: "Veto",
    },

    notice: {
        signedOut: "You are signed out. What you have typed is kept in this page. Sign in again in a second window, and go on here.",
        other: "{name} is signed in now, whose evaluation this is not. Sign in yourself again to save what you have typed, or discard it.",
        gone: "This candidate was deleted meanwhile, or is no longer shown to you. What you have typed cannot be saved. Copy what you still need.",
        removed: "You are no evaluator of this project any more. What you have typed cannot be saved. Copy what you still need.",
        again: "Sign in again",
        discard: "Discard what I have typed",
    },

    refusals: {
        ...passing,
        network: passing.offline,
        throttled: "Too many attempts. Wait a few minutes and try again.",
        other: "This did not work. Load the page again. If it happens again, ask a manager of the project.",
        not_authenticated: "You are signed out. Sign in again.",
        permission_denied: "You may not do this any more. Load the page again.",
        not_found: "This is not there any more. Load the page again.",
        evaluate_first: "Complete your own evaluation first.",
        not_interviewed: "The interview is not complete at the moment, perhaps because it was reopened. Your draft is kept: complete it later.",
        nothing_rated: "Give at least one value first.",
        vetoed: "You have vetoed this candidate, so your evaluation stays complete.",
        already_vetoed: "You have vetoed this candidate already.",
        veto_disabled: "This project has no vetoes any more.",
        too_many_evaluators: "128 people have evaluated in this project already. Ask a manager of the project.",
        interview_reopened: "The interview was reopened. Make the link once it is complete again.",
        no_answers: "There are no answers that a guest could watch.",
        too_many_links: "This candidate has 20 links already. A manager can end some of them.",
    },
};

// The guest's page in English. Every language has these texts; words in braces are filled in.

import { base, passing, player } from "../shared/en.js";

/** @type {import("../../language.js").Texts} */
export default {
    title: "Video interview",
    ...base,
    ask: "Questions? Ask",
    until: "This link works until",

    welcome: {
        title: "The answers of {name}",
        hidden: "A candidate’s answers",
        text: "{company} invites you to watch a video interview: {project}.",
        date: "Date of the interview",
        questions: "Questions",
        length: "Recorded answers, all together",
        how: "You see one question after the other, with its answer. You can pause, go back, and come again as often as you like.",
        personal: "This link is for you alone. Please do not pass it on: everyone who has it can watch. {company} sees when it is opened.",
        begin: "Show the first question",
    },

    question: {
        title: "Question {n} of {total}",
        next: "Next",
        finish: "Finish",
        keys: "The keys ← and → lead back and on.",
        all: "All questions",
        close: "Close",
    },

    player: {
        ...player,
        none: "There is no answer to this question.",
    },

    kinds: { written: "in writing", none: "no answer", converting: "still being prepared" },

    end: {
        title: "That was the last question",
        text: "If you want to say what you think, write to the person who sent you this link.",
        until: "You can watch again until {date}.",
        again: "From the start",
    },

    over: {
        expired: { title: "This link has expired", text: "{company} has limited its time. Ask for a new one if you still want to watch." },
        withdrawn: { title: "This link was withdrawn", text: "{company} has ended it. Ask there if you think that this is a mistake." },
        resting: { title: "The interview is going on", text: "{company} has let the candidate go on with the interview. This link works again once it has ended: open it later." },
        gone: { title: "These answers are no longer shown", text: "{company} does not show the answers of this candidate any more. Ask there if you have questions." },
        ended: { title: "This link does not work", text: "It may be incomplete, or belong to an interview that was deleted. Ask the person who sent it to you for a new one." },
        wrong: { title: "This address is incomplete", text: "Open the link where you got it again, or copy all of it into the address bar: some programs break long links. If that does not help, ask the person who sent it to you for a new one." },
        offline: { title: "No connection", text: "The answers could not be loaded. Check your connection. The page keeps trying by itself." },
        busy: { title: "The service is busy", text: "The answers could not be loaded. The page keeps trying by itself." },
    },

    refusals: passing,
};

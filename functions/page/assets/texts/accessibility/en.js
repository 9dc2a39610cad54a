// The page about accessibility in English. Every language has these texts.

import { base } from "../shared/en.js";

/** @type {import("../../language.js").Texts} */
export default {
    language: base.language,
    title: "Accessibility",
    lead: "These pages are made to meet WCAG 2.2, levels A and AA. This is what works, what does not yet, and how to get another way.",
    works: {
        title: "What works",
        items: [
            "Everything can be done by keyboard alone, also recording, watching and judging.",
            "Screen readers are told each screen’s heading, the beginning and end of a recording, and the last 60, 30 and 10 seconds.",
            "Texts can be enlarged, and fit a window as narrow as 320 pixels without scrolling sideways. Dark and light colours follow your system.",
            "Companies can give more time, further attempts and answers in writing. Nothing that was recorded or typed is lost when the time ends.",
            "Videos show the captions that the company has added, and so do answers to those who watch them.",
        ],
    },
    partly: {
        title: "What does not work, or only partly",
        items: [
            "Videos and answers have captions only where the company has added them. Ask for a text instead.",
            "Videos have no audio description.",
            "A question that is recorded needs a camera, unless you send a video file or may answer in writing: ask for that.",
            "We have not tested with VoiceOver and Safari by hand.",
        ],
    },
    ask: {
        title: "Ask for another way",
        page: "Open the link to your interview and choose “I need help or more time” at the end of the page. It works before, during and after the interview, also when the time is over. You need not give a reason.",
        unknown: "Or write to the company that has invited you.",
    },
    contact: "Or ask directly:",
    measured: "Measured by ourselves, last on",
};

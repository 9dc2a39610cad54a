// What the pages say alike in English.

export const base = {
    language: "Language",
    accessibility: "Accessibility",
    loading: "Loading…",
    back: "Back",
    tryAgain: "Try again",
    minutes: "{n} min",
    seconds: "{n} s",
    minutesSeconds: "{m} min {s} s",
};

/** The player of guests and staff. */
export const player = {
    question: "Question {n}",
    film: "Question {n} as a video",
    video: "Answer to question {n}",
    play: "Play answer",
    pause: "Pause",
    again: "Play again",
    written: "Answered in writing",
    converting: "This answer is still being prepared. That takes a few minutes: try again then, or go on with the next question.",
    renewing: "The video is being loaded again…",
    unplayable: "This video does not play at the moment. Try again. If that does not help, use another browser.",
    speed: "Speed",
};

/** Refusals for passing reasons. */
export const passing = {
    offline: "There is no connection. Check it and try again.",
    busy: "The service is busy. Try again in a moment.",
};

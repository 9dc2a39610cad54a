// What the pages say alike in German.

export const base = {
    language: "Sprache",
    accessibility: "Barrierefreiheit",
    loading: "Wird geladen…",
    back: "Zurück",
    tryAgain: "Erneut versuchen",
    minutes: "{n} min",
    seconds: "{n} s",
    minutesSeconds: "{m} min {s} s",
};

/** The player of guests and staff. */
export const player = {
    question: "Frage {n}",
    film: "Frage {n} als Video",
    video: "Antwort auf Frage {n}",
    play: "Antwort abspielen",
    pause: "Anhalten",
    again: "Noch einmal abspielen",
    written: "Schriftlich beantwortet",
    converting: "Diese Antwort wird noch vorbereitet. Das dauert einige Minuten: Versuchen Sie es dann erneut, oder gehen Sie zur nächsten Frage.",
    renewing: "Das Video wird neu geladen…",
    unplayable: "Dieses Video lässt sich gerade nicht abspielen. Versuchen Sie es noch einmal. Wenn das nicht hilft, nehmen Sie einen anderen Browser.",
    speed: "Tempo",
};

/** Refusals for passing reasons. */
export const passing = {
    offline: "Es gibt keine Verbindung. Prüfen Sie sie und versuchen Sie es erneut.",
    busy: "Der Dienst ist ausgelastet. Versuchen Sie es gleich noch einmal.",
};

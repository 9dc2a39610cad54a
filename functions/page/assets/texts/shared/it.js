// What the pages say alike in Italian.

export const base = {
    language: "Lingua",
    accessibility: "Accessibilità",
    loading: "Caricamento…",
    back: "Indietro",
    tryAgain: "Riprovi",
    minutes: "{n} min",
    seconds: "{n} s",
    minutesSeconds: "{m} min {s} s",
};

/** The player of guests and staff. */
export const player = {
    question: "Domanda {n}",
    film: "La domanda {n} in video",
    video: "Risposta alla domanda {n}",
    play: "Riproduca la risposta",
    pause: "Pausa",
    again: "Riproduca di nuovo",
    written: "Risposta scritta",
    converting: "Questa risposta è ancora in preparazione. Ci vuole qualche minuto: riprovi più tardi o passi alla domanda successiva.",
    renewing: "Il video viene ricaricato…",
    unplayable: "Al momento questo video non si può riprodurre. Riprovi. Se non serve, usi un altro browser.",
    speed: "Velocità",
};

/** Refusals for passing reasons. */
export const passing = {
    offline: "Non c’è connessione. La controlli e riprovi.",
    busy: "Il servizio è occupato. Riprovi tra un momento.",
};

// What the pages say alike in Dutch.

export const base = {
    language: "Taal",
    accessibility: "Toegankelijkheid",
    loading: "Laden…",
    back: "Terug",
    tryAgain: "Opnieuw proberen",
    minutes: "{n} min",
    seconds: "{n} s",
    minutesSeconds: "{m} min {s} s",
};

/** The player of guests and staff. */
export const player = {
    question: "Vraag {n}",
    film: "Vraag {n} als video",
    video: "Antwoord op vraag {n}",
    play: "Antwoord afspelen",
    pause: "Pauzeren",
    again: "Opnieuw afspelen",
    written: "Schriftelijk beantwoord",
    converting: "Dit antwoord wordt nog voorbereid. Dat duurt enkele minuten: probeer het dan opnieuw, of ga naar de volgende vraag.",
    renewing: "De video wordt opnieuw geladen…",
    unplayable: "Deze video kan nu niet worden afgespeeld. Probeer het opnieuw. Helpt dat niet, gebruik dan een andere browser.",
    speed: "Snelheid",
};

/** Refusals for passing reasons. */
export const passing = {
    offline: "Er is geen verbinding. Controleer die en probeer het opnieuw.",
    busy: "De dienst is druk bezet. Probeer het zo meteen opnieuw.",
};

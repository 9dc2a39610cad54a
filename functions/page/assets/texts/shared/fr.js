// What the pages say alike in French.

export const base = {
    language: "Langue",
    accessibility: "Accessibilité",
    loading: "Chargement…",
    back: "Retour",
    tryAgain: "Réessayer",
    minutes: "{n} min",
    seconds: "{n} s",
    minutesSeconds: "{m} min {s} s",
};

/** The player of guests and staff. */
export const player = {
    question: "Question {n}",
    film: "La question {n} en vidéo",
    video: "Réponse à la question {n}",
    play: "Lire la réponse",
    pause: "Pause",
    again: "Relire la réponse",
    written: "Réponse écrite",
    converting: "Cette réponse est encore en préparation. Cela prend quelques minutes : réessayez ensuite, ou passez à la question suivante.",
    renewing: "La vidéo est rechargée…",
    unplayable: "Cette vidéo ne peut pas être lue pour le moment. Réessayez. Si cela n’aide pas, utilisez un autre navigateur.",
    speed: "Vitesse",
};

/** Refusals for passing reasons. */
export const passing = {
    offline: "Il n’y a pas de connexion. Vérifiez-la et réessayez.",
    busy: "Le service est très sollicité. Réessayez dans un instant.",
};

// What the pages say alike in Spanish.

export const base = {
    language: "Idioma",
    accessibility: "Accesibilidad",
    loading: "Cargando…",
    back: "Volver",
    tryAgain: "Intentar de nuevo",
    minutes: "{n} min",
    seconds: "{n} s",
    minutesSeconds: "{m} min {s} s",
};

/** The player of guests and staff. */
export const player = {
    question: "Pregunta {n}",
    film: "La pregunta {n} en vídeo",
    video: "Respuesta a la pregunta {n}",
    play: "Reproducir la respuesta",
    pause: "Pausa",
    again: "Reproducir de nuevo",
    written: "Respuesta por escrito",
    converting: "Esta respuesta aún se está preparando. Tarda unos minutos: inténtelo entonces de nuevo o siga con la pregunta siguiente.",
    renewing: "El vídeo se está cargando de nuevo…",
    unplayable: "Este vídeo no se puede reproducir en este momento. Inténtelo de nuevo. Si no ayuda, use otro navegador.",
    speed: "Velocidad",
};

/** Refusals for passing reasons. */
export const passing = {
    offline: "No hay conexión. Compruébela e inténtelo de nuevo.",
    busy: "El servicio está ocupado. Inténtelo de nuevo en un momento.",
};

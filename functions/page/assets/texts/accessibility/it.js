// The page about accessibility in Italian. Every language has these texts.

import { base } from "../shared/it.js";

/** @type {import("../../language.js").Texts} */
export default {
    language: base.language,
    title: "Accessibilità",
    lead: "Queste pagine sono fatte per rispettare le WCAG 2.2, livelli A e AA. Ecco che cosa funziona, che cosa non ancora, e come chiedere un altro modo di rispondere.",
    works: {
        title: "Che cosa funziona",
        items: [
            "Tutto si può fare con la sola tastiera, anche registrare, guardare e valutare.",
            "I lettori di schermo annunciano il titolo di ogni schermata, l’inizio e la fine di una registrazione e gli ultimi 60, 30 e 10 secondi.",
            "I testi si possono ingrandire e stanno in una finestra di 320 pixel senza scorrere di lato. I colori scuri o chiari seguono il Suo sistema.",
            "Le aziende possono dare più tempo, altri tentativi e risposte scritte. Nulla di ciò che è registrato o scritto va perso quando il tempo finisce.",
            "I video mostrano i sottotitoli che l’azienda ha aggiunto, e così le risposte a chi le guarda.",
        ],
    },
    partly: {
        title: "Che cosa non funziona, o solo in parte",
        items: [
            "I video e le risposte hanno sottotitoli solo se l’azienda li ha aggiunti. Chieda un testo.",
            "I video non hanno audiodescrizione.",
            "Una domanda registrata richiede una videocamera, a meno che invii un file video o possa rispondere per iscritto: lo chieda.",
            "Non abbiamo provato a mano con VoiceOver e Safari.",
        ],
    },
    ask: {
        title: "Chiedere un altro modo",
        page: "Apra il link del Suo colloquio e scelga in fondo alla pagina «Ho bisogno di aiuto o di più tempo». Funziona prima, durante e dopo il colloquio, anche quando il tempo è finito. Non deve dare motivi.",
        unknown: "Oppure scriva all’azienda che L’ha invitata.",
    },
    contact: "Oppure chieda direttamente:",
    measured: "Valutazione fatta da noi, l’ultima il",
};

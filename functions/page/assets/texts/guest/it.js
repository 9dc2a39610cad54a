// The guest's page in Italian. Every language has these texts; words in braces are filled in.

import { base, passing, player } from "../shared/it.js";

/** @type {import("../../language.js").Texts} */
export default {
    title: "Videocolloquio",
    ...base,
    ask: "Domande? Si rivolga a",
    until: "Questo link è valido fino a",

    welcome: {
        title: "Le risposte di {name}",
        hidden: "Le risposte di una candidatura",
        text: "{company} La invita a guardare un videocolloquio: {project}.",
        date: "Data del colloquio",
        questions: "Domande",
        length: "Risposte registrate, in totale",
        how: "Vedrà una domanda dopo l’altra, con la sua risposta. Può fare una pausa, tornare indietro e ritornare tutte le volte che vuole.",
        personal: "Questo link è solo per Lei. La preghiamo di non inoltrarlo: chiunque lo abbia può guardare le risposte. {company} vede quando viene aperto.",
        begin: "Mostri la prima domanda",
    },

    question: {
        title: "Domanda {n} di {total}",
        next: "Avanti",
        finish: "Fine",
        keys: "I tasti ← e → portano alla domanda precedente e a quella successiva.",
        all: "Tutte le domande",
        close: "Chiudi",
    },

    player: {
        ...player,
        none: "Non c’è risposta a questa domanda.",
    },

    kinds: { written: "per iscritto", none: "nessuna risposta", converting: "in preparazione" },

    end: {
        title: "Era l’ultima domanda",
        text: "Se vuole dire che cosa ne pensa, scriva alla persona che Le ha inviato questo link.",
        until: "Può rivedere le risposte fino a {date}.",
        again: "All’inizio",
    },

    over: {
        expired: { title: "Questo link è scaduto", text: "{company} ne ha limitato la durata. Ne chieda uno nuovo se vuole ancora guardare le risposte." },
        withdrawn: { title: "Questo link è stato ritirato", text: "{company} lo ha disattivato. Si rivolga all’azienda se pensa che sia un errore." },
        resting: { title: "Il colloquio prosegue", text: "{company} ha permesso alla persona di proseguire il colloquio. Questo link funzionerà di nuovo quando sarà concluso: lo apra più tardi." },
        gone: { title: "Queste risposte non sono più mostrate", text: "{company} non mostra più le risposte di questa persona. Si rivolga all’azienda se ha domande." },
        ended: { title: "Questo link non funziona", text: "Forse è incompleto, o il colloquio è stato eliminato. Ne chieda uno nuovo alla persona che glielo ha inviato." },
        wrong: { title: "Questo indirizzo è incompleto", text: "Apra di nuovo il link dove lo ha ricevuto o lo copi per intero nella barra degli indirizzi: alcuni programmi spezzano i link lunghi. Se non basta, ne chieda uno nuovo alla persona che glielo ha inviato." },
        offline: { title: "Nessuna connessione", text: "Non è stato possibile caricare le risposte. Controlli la connessione. La pagina continua a provare da sola." },
        busy: { title: "Il servizio è occupato", text: "Non è stato possibile caricare le risposte. La pagina continua a provare da sola." },
    },

    refusals: passing,
};

// The page of staff in Italian. Every language has these texts; words in braces are filled in.

import { base, passing, player } from "../shared/it.js";

/** @type {import("../../language.js").Texts} */
export default {
    title: "Colloqui",
    ...base,
    showPassword: "Mostra la password",
    more: "Mostra altri",
    signOut: "Esci",
    leaveUnsaved: "Una parte di ciò che ha scritto non è salvata. Lasciare questa pagina e perderla?",
    signOutUnsaved: "Una parte di ciò che ha scritto non è salvata. Uscire e perderla?",
    toInterview: "Al colloquio del candidato",

    signIn: {
        title: "Accedi",
        company: "Azienda",
        name: "Nome utente o indirizzo e-mail",
        password: "Password",
        submit: "Accedi",
        forgotten: "Ho dimenticato la password",
        sent: "Se questo account esiste, riceverà un’e-mail con un link tra pochi minuti.",
        wrong: "Azienda, nome o password non sono corretti. Li controlli tutti e tre e riprovi.",
    },

    over: {
        wrong: { title: "Questo indirizzo è incompleto", text: "Apra di nuovo il link dove l’ha ricevuto, oppure lo copi per intero nella barra degli indirizzi: alcuni programmi spezzano i link lunghi." },
        gone: { title: "Qui non c’è nulla per Lei", text: "Il candidato o il progetto è stato eliminato o non è mai esistito, oppure Lei non ne fa parte. Chieda a chi Le ha inviato il link." },
        company: { title: "Ha effettuato l’accesso con un’altra azienda", text: "Questo indirizzo appartiene all’azienda {company}. Esca, e acceda con un account di quell’azienda." },
        candidate: { title: "Questa pagina è per il personale", text: "Ha effettuato l’accesso come candidato. Il Suo colloquio è altrove. Per usare questa pagina, esca, e acceda con un account del personale di {company}." },
        signedIn: { title: "Ha effettuato l’accesso", text: "Continui nell’altra finestra: ciò che ha scritto è ancora lì. Questa si può chiudere." },
        offline: { title: "Nessuna connessione", text: "Non è stato possibile caricare la pagina. Controlli la connessione e riprovi." },
        busy: { title: "Il servizio è occupato", text: "Non è stato possibile caricare la pagina. Riprovi tra un momento." },
    },

    home: {
        title: "I miei progetti",
        all: "Tutti i progetti dell’azienda",
        account: "Accesso effettuato come {name}.",
        none: "Non fa ancora parte di alcun progetto. I responsabili dei progetti possono aggiungerLa.",
        waiting: "In attesa di Lei: {n}",
        nothing: "Nulla La attende",
        interviewed: "Colloqui: {n}",
    },

    project: {
        waiting: "In attesa della Sua valutazione ({n})",
        judged: "Valutati da Lei ({n})",
        interviewed: "Colloqui ({n})",
        ended: "Terminati prima del completamento, con risposte",
        done: "In questo progetto nulla La attende.",
        none: "Nessuno ha ancora completato un colloquio.",
        rating: "Voto {rating}",
    },

    statuses: {
        new: "non ancora invitato",
        invited: "invitato",
        confirmed: "confermato",
        interviewing: "colloquio in corso",
        interviewed: "completato",
        expired: "termine scaduto",
        aborted: "terminato prima del completamento",
        skipped: "ritirato dall’azienda",
    },

    head: {
        title: "Sul candidato",
        status: "Colloquio",
        date: "Data",
        length: "Risposte registrate, in tutto",
        cv: "CV",
        open: "Apri il CV",
        photo: "Foto di {name}",
    },

    waits: {
        new: "Il candidato non è ancora invitato. Le risposte saranno qui quando il colloquio sarà completo.",
        invited: "Il candidato è invitato e non ha iniziato. Le risposte saranno qui quando il colloquio sarà completo.",
        confirmed: "Il candidato ha accettato l’invito. Le risposte saranno qui quando il colloquio sarà completo.",
        interviewing: "Il colloquio è in corso. Le risposte saranno qui quando sarà completo.",
        reopened: "Il colloquio è stato riaperto: il candidato può cambiare le risposte. Saranno di nuovo qui quando sarà completo.",
        expired: "Il termine è scaduto senza colloquio. Non ci sono risposte.",
        aborted: "Il colloquio è terminato prima del completamento. Non ci sono risposte.",
        skipped: "L’azienda ha ritirato l’invito. Non ci sono risposte.",
        elsewhere: "Questo colloquio si è svolto su un’altra piattaforma: qui non ci sono risposte da guardare.",
    },

    guest: {
        title: "Mostrarlo a una persona senza account",
        recipient: "Chi riceve il link?",
        hint: "Un nome che riconosce, per esempio «Direzione vendite». L’ospite non lo vede.",
        submit: "Crea un link per un ospite",
        made: "Invii Lei questo link. Chi lo possiede può guardare le risposte fino a questa data: {date}. Non viene mostrato di nuovo.",
        link: "Link per l’ospite",
        copy: "Copia il link",
        copied: "Copiato.",
    },

    question: {
        title: "Domanda {n} di {total}",
        list: "Tutte le domande",
        next: "Avanti",
        toEvaluation: "Alla valutazione",
        close: "Chiudi",
        written: "per iscritto",
        none: "nessuna risposta da guardare",
    },

    player: {
        ...player,
        none: "Il candidato non ha risposto a questa domanda.",
        lost: "Il candidato non poteva più rispondere a questa domanda: il tempo era finito e non restava alcun tentativo.",
        unfinished: "Il candidato ha iniziato una risposta e non l’ha finita.",
        failed: "Questa risposta è stata registrata, ma non si può riprodurre.",
    },

    judge: {
        title: "Valutazione",
        own: "Il Suo voto",
        value: "Valore, da 0 a {maximum}",
        wrong: "Scriva un numero da 0 a {maximum} con al massimo un decimale.",
        comment: "Commento",
        rated: "il Suo voto: {value}",
        recommendation: "La Sua raccomandazione",
        overall: "Che cosa pensa del candidato?",
        complete: "Completa la valutazione…",
        completing: "Completare la valutazione?",
        missing: "Questo è ancora aperto. Può completarla ugualmente:",
        missingQuestion: "Domanda {n}: nessun valore",
        missingCriterion: "{name}: nessun valore",
        missingRecommendation: "Nessuna raccomandazione",
        missingComment: "Nessuna parola sul candidato",
        consequence: "Gli altri vedranno allora la Sua valutazione, e Lei vedrà le loro. Potrà cambiare la Sua più tardi.",
        completeNow: "Completa ora",
        toAnswers: "Torna alle risposte",
        toProject: "Torna al progetto",
    },

    recommendations: { none: "Nessuna raccomandazione", definitely_no: "Assolutamente no", no: "No", yes: "Sì", strong_yes: "Senz’altro" },

    obstacles: {
        reader: "Lei non valuta in questo progetto: può solo leggere.",
        shared: "Queste risposte sono state condivise con Lei. Le giudicano solo i valutatori del progetto.",
        reopened: "Il colloquio è stato riaperto. Potrà valutarlo quando sarà di nuovo completo; la Sua bozza resta.",
        time: "Il tempo ha terminato questo colloquio prima del completamento. Si valutano solo colloqui completi.",
        aborted: "Questo colloquio è terminato prima del completamento. Si valutano solo colloqui completi.",
        skipped: "L’azienda ha ritirato l’invito: questo colloquio non si valuta.",
        expired: "Il termine è scaduto: questo colloquio non si valuta.",
        other: "Si valutano solo colloqui completi.",
    },

    conflict: {
        changed: "Ha cambiato questo anche in un’altra finestra. Lì c’è scritto:",
        emptied: "Ha svuotato questo in un’altra finestra.",
        mine: "Tieni ciò che è qui",
        theirs: "Prendi l’altro",
    },

    saving: {
        nothing: "Ciò che scrive si salva da sé come bozza. La vede solo Lei.",
        saved: "Salvato come bozza. La vede solo Lei.",
        unsaved: "Non ancora salvato.",
        saving: "Salvataggio…",
        offline: "Nessuna connessione. Ciò che ha scritto attende in questa pagina e sarà salvato quando torna la connessione: non la chiuda.",
        busy: "Il servizio è occupato. Ciò che ha scritto attende in questa pagina e sarà salvato tra un momento: non la chiuda.",
        signedOut: "La sessione è finita. Ciò che ha scritto attende in questa pagina: non la chiuda.",
        held: "Uno dei campi richiede la Sua attenzione prima di poter essere salvato.",
        completed: "Ha completato questa valutazione: {date}.",
        completedElsewhere: "Ha completato questa valutazione in un’altra finestra: {date}.",
        changed: "Le Sue modifiche non sono ancora salvate. Gli altri le vedranno quando le salva.",
        change: "Modifica",
        save: "Salva le modifiche",
        discard: "Scarta le modifiche",
    },

    veto: {
        title: "Porre il veto su questo candidato",
        text: "Un veto completa la valutazione di questo candidato per tutti, anche la Sua. Non si può ritirare.",
        label: "Perché? Almeno 15 caratteri.",
        submit: "Porre il veto definitivo",
    },

    others: {
        title: "Che cosa dicono tutti i valutatori",
        overall: "Voto complessivo",
        none: "Nessuno ha ancora completato una valutazione.",
        former: "Un valutatore",
        at: "completata: {date}",
        veto: "Veto",
    },

    notice: {
        signedOut: "La sessione è finita. Ciò che ha scritto resta in questa pagina. Acceda di nuovo in una seconda finestra e continui qui.",
        other: "Ora ha effettuato l’accesso {name}, e questa valutazione non è sua. Acceda Lei di nuovo per salvare ciò che ha scritto, oppure lo scarti.",
        gone: "Nel frattempo questo candidato è stato eliminato, o non Le viene più mostrato. Ciò che ha scritto non si può salvare. Copi ciò che Le serve ancora.",
        removed: "Lei non valuta più in questo progetto. Ciò che ha scritto non si può salvare. Copi ciò che Le serve ancora.",
        again: "Accedi di nuovo",
        discard: "Scarta ciò che ho scritto",
    },

    refusals: {
        ...passing,
        network: passing.offline,
        throttled: "Troppi tentativi. Aspetti alcuni minuti e riprovi.",
        other: "Non ha funzionato. Ricarichi la pagina. Se succede ancora, chieda a un responsabile del progetto.",
        not_authenticated: "La sessione è finita. Acceda di nuovo.",
        permission_denied: "Non può più farlo. Ricarichi la pagina.",
        not_found: "Non c’è più. Ricarichi la pagina.",
        evaluate_first: "Completi prima la Sua valutazione.",
        not_interviewed: "Al momento il colloquio non è completo, forse perché è stato riaperto. La Sua bozza resta: la completi più tardi.",
        nothing_rated: "Dia prima almeno un valore.",
        vetoed: "Ha posto il veto su questo candidato: la Sua valutazione resta completa.",
        already_vetoed: "Ha già posto il veto su questo candidato.",
        veto_disabled: "Questo progetto non ha più veti.",
        too_many_evaluators: "In questo progetto hanno già valutato 128 persone. Chieda a un responsabile del progetto.",
        interview_reopened: "Il colloquio è stato riaperto. Crei il link quando sarà di nuovo completo.",
        no_answers: "Non ci sono risposte che un ospite possa guardare.",
        too_many_links: "Questo candidato ha già 20 link. Un responsabile può terminarne alcuni.",
    },
};

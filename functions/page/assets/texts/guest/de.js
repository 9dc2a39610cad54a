// The guest's page in German. Every language has these texts; words in braces are filled in.

import { base, passing, player } from "../shared/de.js";

/** @type {import("../../language.js").Texts} */
export default {
    title: "Video-Interview",
    ...base,
    ask: "Fragen? Wenden Sie sich an",
    until: "Dieser Link gilt bis",

    welcome: {
        title: "Die Antworten von {name}",
        hidden: "Antworten einer Bewerbung",
        text: "{company} lädt Sie ein, ein Video-Interview anzusehen: {project}.",
        date: "Datum des Interviews",
        questions: "Fragen",
        length: "Aufgenommene Antworten insgesamt",
        how: "Sie sehen eine Frage nach der anderen mit ihrer Antwort. Sie können anhalten, zurückgehen und so oft wiederkommen, wie Sie möchten.",
        personal: "Dieser Link ist nur für Sie. Bitte geben Sie ihn nicht weiter: Alle, die ihn haben, können die Antworten ansehen. {company} sieht, wann er geöffnet wird.",
        begin: "Erste Frage zeigen",
    },

    question: {
        title: "Frage {n} von {total}",
        next: "Weiter",
        finish: "Zum Ende",
        keys: "Die Tasten ← und → führen zurück und weiter.",
        all: "Alle Fragen",
        close: "Schließen",
    },

    player: {
        ...player,
        none: "Auf diese Frage gibt es keine Antwort.",
    },

    kinds: { written: "schriftlich", none: "keine Antwort", converting: "wird noch vorbereitet" },

    end: {
        title: "Das war die letzte Frage",
        text: "Wenn Sie sagen möchten, was Sie denken, schreiben Sie der Person, die Ihnen diesen Link geschickt hat.",
        until: "Sie können die Antworten bis {date} wieder ansehen.",
        again: "Von vorn",
    },

    over: {
        expired: { title: "Dieser Link ist abgelaufen", text: "{company} hat ihn befristet. Bitten Sie um einen neuen, wenn Sie noch etwas ansehen möchten." },
        withdrawn: { title: "Dieser Link wurde zurückgezogen", text: "{company} hat ihn beendet. Fragen Sie dort nach, wenn Sie das für einen Irrtum halten." },
        resting: { title: "Das Interview geht weiter", text: "{company} hat der Person erlaubt, ihr Interview fortzusetzen. Sobald es beendet ist, funktioniert dieser Link wieder: Öffnen Sie ihn später." },
        gone: { title: "Diese Antworten werden nicht mehr gezeigt", text: "{company} zeigt die Antworten dieser Person nicht mehr. Fragen Sie dort nach, wenn Sie Fragen haben." },
        ended: { title: "Dieser Link funktioniert nicht", text: "Vielleicht ist er unvollständig, oder das Interview wurde gelöscht. Bitten Sie die Person, die ihn geschickt hat, um einen neuen." },
        wrong: { title: "Diese Adresse ist unvollständig", text: "Öffnen Sie den Link dort noch einmal, wo Sie ihn bekommen haben, oder kopieren Sie ihn ganz in die Adresszeile: Manche Programme brechen lange Links um. Wenn das nicht hilft, bitten Sie die Person, die ihn geschickt hat, um einen neuen." },
        offline: { title: "Keine Verbindung", text: "Die Antworten konnten nicht geladen werden. Prüfen Sie Ihre Verbindung. Die Seite versucht es von selbst weiter." },
        busy: { title: "Der Dienst ist ausgelastet", text: "Die Antworten konnten nicht geladen werden. Die Seite versucht es von selbst weiter." },
    },

    refusals: passing,
};

// The page of staff in German. Every language has these texts; words in braces are filled in.

import { base, passing, player } from "../shared/de.js";

/** @type {import("../../language.js").Texts} */
export default {
    title: "Interviews",
    ...base,
    showPassword: "Passwort anzeigen",
    more: "Mehr anzeigen",
    signOut: "Abmelden",
    leaveUnsaved: "Ein Teil Ihrer Eingaben ist nicht gespeichert. Die Seite verlassen und die Eingaben verlieren?",
    signOutUnsaved: "Ein Teil Ihrer Eingaben ist nicht gespeichert. Abmelden und die Eingaben verlieren?",
    toInterview: "Zum Interview der Bewerberin oder des Bewerbers",

    signIn: {
        title: "Anmelden",
        company: "Unternehmen",
        name: "Benutzername oder E-Mail-Adresse",
        password: "Passwort",
        submit: "Anmelden",
        forgotten: "Ich habe mein Passwort vergessen",
        sent: "Wenn es dieses Konto gibt, bekommen Sie in wenigen Minuten eine E-Mail mit einem Link.",
        wrong: "Unternehmen, Name oder Passwort stimmen nicht. Prüfen Sie alle drei und versuchen Sie es noch einmal.",
    },

    over: {
        wrong: { title: "Diese Adresse ist unvollständig", text: "Öffnen Sie den Link dort noch einmal, wo Sie ihn bekommen haben, oder kopieren Sie ihn ganz in die Adresszeile: Manche Programme brechen lange Links um." },
        gone: { title: "Hier gibt es für Sie nichts zu sehen", text: "Die Person oder das Projekt wurde gelöscht oder hat nie existiert, oder Sie sind nicht beteiligt. Fragen Sie, wer Ihnen den Link geschickt hat." },
        company: { title: "Sie sind bei einem anderen Unternehmen angemeldet", text: "Diese Adresse gehört zum Unternehmen {company}. Melden Sie sich ab, und dann mit einem Konto dieses Unternehmens wieder an." },
        candidate: { title: "Diese Seite ist für das Personal", text: "Sie sind als Bewerberin oder Bewerber angemeldet. Ihr Interview ist an anderer Stelle. Um diese Seite zu nutzen, melden Sie sich ab, und dann mit einem Konto des Personals von {company} an." },
        signedIn: { title: "Sie sind angemeldet", text: "Machen Sie im anderen Fenster weiter: Ihre Eingaben sind dort noch da. Dieses hier können Sie schließen." },
        offline: { title: "Keine Verbindung", text: "Die Seite konnte nicht geladen werden. Prüfen Sie die Verbindung und versuchen Sie es noch einmal." },
        busy: { title: "Der Dienst ist ausgelastet", text: "Die Seite konnte nicht geladen werden. Versuchen Sie es gleich noch einmal." },
    },

    home: {
        title: "Meine Projekte",
        all: "Alle Projekte des Unternehmens",
        account: "Sie sind angemeldet als {name}.",
        none: "Sie sind noch an keinem Projekt beteiligt. Projektleitungen können Sie hinzufügen.",
        waiting: "Warten auf Sie: {n}",
        nothing: "Nichts wartet auf Sie",
        interviewed: "Interviews: {n}",
    },

    project: {
        waiting: "Warten auf Ihre Bewertung ({n})",
        judged: "Von Ihnen bewertet ({n})",
        interviewed: "Interviews ({n})",
        ended: "Vor dem Abschluss beendet, mit Antworten",
        done: "In diesem Projekt wartet nichts auf Sie.",
        none: "Noch niemand hat ein Interview abgeschlossen.",
        rating: "Bewertung {rating}",
    },

    statuses: {
        new: "noch nicht eingeladen",
        invited: "eingeladen",
        confirmed: "zugesagt",
        interviewing: "Interview läuft",
        interviewed: "abgeschlossen",
        expired: "Frist abgelaufen",
        aborted: "vor dem Abschluss beendet",
        skipped: "vom Unternehmen zurückgezogen",
    },

    head: {
        title: "Zur Person",
        status: "Interview",
        date: "Datum",
        length: "Aufgenommene Antworten insgesamt",
        cv: "Lebenslauf",
        open: "Lebenslauf öffnen",
        photo: "Foto von {name}",
    },

    waits: {
        new: "Die Person ist noch nicht eingeladen. Die Antworten stehen hier, sobald das Interview abgeschlossen ist.",
        invited: "Die Person ist eingeladen und hat noch nicht begonnen. Die Antworten stehen hier, sobald das Interview abgeschlossen ist.",
        confirmed: "Die Person hat die Einladung angenommen. Die Antworten stehen hier, sobald das Interview abgeschlossen ist.",
        interviewing: "Das Interview läuft. Die Antworten stehen hier, sobald es abgeschlossen ist.",
        reopened: "Das Interview wurde wieder geöffnet: Die Antworten können sich noch ändern. Sie stehen wieder hier, sobald es abgeschlossen ist.",
        expired: "Die Frist ist ohne Interview abgelaufen. Es gibt keine Antworten.",
        aborted: "Das Interview endete vor dem Abschluss. Es gibt keine Antworten.",
        skipped: "Das Unternehmen hat die Einladung zurückgezogen. Es gibt keine Antworten.",
        elsewhere: "Dieses Interview fand auf einer anderen Plattform statt, deshalb gibt es hier keine Antworten.",
    },

    guest: {
        title: "Jemandem ohne Konto zeigen",
        recipient: "Wer bekommt den Link?",
        hint: "Ein Name, den Sie wiedererkennen, etwa „Vertriebsleitung“. Der Gast sieht ihn nicht.",
        submit: "Link für einen Gast erstellen",
        made: "Schicken Sie diesen Link selbst. Wer ihn hat, kann die Antworten ansehen, bis {date}. Er wird nicht noch einmal gezeigt.",
        link: "Link für den Gast",
        copy: "Link kopieren",
        copied: "Kopiert.",
    },

    question: {
        title: "Frage {n} von {total}",
        list: "Alle Fragen",
        next: "Weiter",
        toEvaluation: "Zur Bewertung",
        close: "Schließen",
        written: "schriftlich",
        none: "keine Antwort zu sehen",
    },

    player: {
        ...player,
        none: "Diese Frage wurde nicht beantwortet.",
        lost: "Diese Frage konnte nicht mehr beantwortet werden: Ihre Zeit war um, und kein Versuch war übrig.",
        unfinished: "Eine Antwort wurde begonnen und nicht beendet.",
        failed: "Diese Antwort wurde aufgenommen, lässt sich aber nicht abspielen.",
    },

    judge: {
        title: "Bewertung",
        own: "Ihre Bewertung",
        value: "Wert, von 0 bis {maximum}",
        wrong: "Geben Sie eine Zahl von 0 bis {maximum} mit höchstens einer Nachkommastelle ein.",
        comment: "Kommentar",
        rated: "Ihre Bewertung: {value}",
        recommendation: "Ihre Empfehlung",
        overall: "Was halten Sie von der Person?",
        complete: "Bewertung abschließen…",
        completing: "Die Bewertung abschließen?",
        missing: "Das ist noch offen. Sie können trotzdem abschließen:",
        missingQuestion: "Frage {n}: kein Wert",
        missingCriterion: "{name}: kein Wert",
        missingRecommendation: "Keine Empfehlung",
        missingComment: "Keine Worte zur Person",
        consequence: "Die anderen sehen dann Ihre Bewertung, und Sie sehen deren. Sie können Ihre später ändern.",
        completeNow: "Jetzt abschließen",
        toAnswers: "Zurück zu den Antworten",
        toProject: "Zurück zum Projekt",
    },

    recommendations: { none: "Keine Empfehlung", definitely_no: "Auf keinen Fall", no: "Nein", yes: "Ja", strong_yes: "Unbedingt" },

    obstacles: {
        reader: "In diesem Projekt bewerten Sie nicht, deshalb lesen Sie nur.",
        shared: "Diese Antworten wurden mit Ihnen geteilt. Nur wer im Projekt bewertet, beurteilt sie.",
        reopened: "Das Interview wurde wieder geöffnet. Sie können es bewerten, sobald es wieder abgeschlossen ist; Ihr Entwurf bleibt erhalten.",
        time: "Die Zeit hat dieses Interview vor dem Abschluss beendet. Nur abgeschlossene Interviews werden bewertet.",
        aborted: "Dieses Interview endete vor dem Abschluss. Nur abgeschlossene Interviews werden bewertet.",
        skipped: "Das Unternehmen hat die Einladung zurückgezogen, deshalb wird dieses Interview nicht bewertet.",
        expired: "Die Frist ist abgelaufen, deshalb wird dieses Interview nicht bewertet.",
        other: "Nur abgeschlossene Interviews werden bewertet.",
    },

    conflict: {
        changed: "Sie haben das auch in einem anderen Fenster geändert. Dort steht:",
        emptied: "Sie haben das in einem anderen Fenster geleert.",
        mine: "Behalten, was hier steht",
        theirs: "Das andere nehmen",
    },

    saving: {
        nothing: "Ihre Eingaben werden von selbst als Entwurf gespeichert. Nur Sie sehen ihn.",
        saved: "Als Entwurf gespeichert. Nur Sie sehen ihn.",
        unsaved: "Noch nicht gespeichert.",
        saving: "Wird gespeichert…",
        offline: "Keine Verbindung. Ihre Eingaben warten in dieser Seite und werden gespeichert, sobald die Verbindung wieder da ist: Schließen Sie sie nicht.",
        busy: "Der Dienst ist ausgelastet. Ihre Eingaben warten in dieser Seite und werden gleich gespeichert: Schließen Sie sie nicht.",
        signedOut: "Sie sind abgemeldet. Ihre Eingaben warten in dieser Seite: Schließen Sie sie nicht.",
        held: "Eines der Felder braucht Ihre Aufmerksamkeit, bevor es gespeichert werden kann.",
        completed: "Sie haben diese Bewertung abgeschlossen: {date}.",
        completedElsewhere: "Sie haben diese Bewertung in einem anderen Fenster abgeschlossen: {date}.",
        changed: "Ihre Änderungen sind noch nicht gespeichert. Die anderen sehen sie, sobald Sie speichern.",
        change: "Ändern",
        save: "Änderungen speichern",
        discard: "Änderungen verwerfen",
    },

    veto: {
        title: "Veto einlegen",
        text: "Ein Veto schließt die Bewertung dieser Person für alle ab, auch Ihre eigene. Es kann nicht zurückgenommen werden.",
        label: "Warum? Mindestens 15 Zeichen.",
        submit: "Endgültig Veto einlegen",
    },

    others: {
        title: "Was alle Bewertenden sagen",
        overall: "Gesamtbewertung",
        none: "Noch niemand hat eine Bewertung abgeschlossen.",
        former: "Jemand aus dem Kreis der Bewertenden",
        at: "abgeschlossen: {date}",
        veto: "Veto",
    },

    notice: {
        signedOut: "Sie sind abgemeldet. Ihre Eingaben bleiben in dieser Seite. Melden Sie sich in einem zweiten Fenster wieder an, und machen Sie hier weiter.",
        other: "Jetzt ist {name} angemeldet; das ist nicht deren oder dessen Bewertung. Melden Sie sich selbst wieder an, um Ihre Eingaben zu speichern, oder verwerfen Sie sie.",
        gone: "Diese Person wurde inzwischen gelöscht oder wird Ihnen nicht mehr gezeigt. Ihre Eingaben können nicht gespeichert werden. Kopieren Sie, was Sie noch brauchen.",
        removed: "Sie bewerten in diesem Projekt nicht mehr. Ihre Eingaben können nicht gespeichert werden. Kopieren Sie, was Sie noch brauchen.",
        again: "Wieder anmelden",
        discard: "Meine Eingaben verwerfen",
    },

    refusals: {
        ...passing,
        network: passing.offline,
        throttled: "Zu viele Versuche. Warten Sie einige Minuten und versuchen Sie es noch einmal.",
        other: "Das hat nicht geklappt. Laden Sie die Seite neu. Wenn es wieder geschieht, fragen Sie die Projektleitung.",
        not_authenticated: "Sie sind abgemeldet. Melden Sie sich wieder an.",
        permission_denied: "Das dürfen Sie nicht mehr. Laden Sie die Seite neu.",
        not_found: "Das gibt es nicht mehr. Laden Sie die Seite neu.",
        evaluate_first: "Schließen Sie zuerst Ihre eigene Bewertung ab.",
        not_interviewed: "Das Interview ist gerade nicht abgeschlossen, vielleicht weil es wieder geöffnet wurde. Ihr Entwurf bleibt: Schließen Sie ihn später ab.",
        nothing_rated: "Geben Sie zuerst mindestens einen Wert ein.",
        vetoed: "Sie haben ein Veto eingelegt, deshalb bleibt Ihre Bewertung abgeschlossen.",
        already_vetoed: "Sie haben bereits ein Veto eingelegt.",
        veto_disabled: "In diesem Projekt gibt es kein Veto mehr.",
        too_many_evaluators: "In diesem Projekt haben bereits 128 Personen bewertet. Fragen Sie die Projektleitung.",
        interview_reopened: "Das Interview wurde wieder geöffnet. Erstellen Sie den Link, sobald es wieder abgeschlossen ist.",
        no_answers: "Es gibt keine Antworten, die ein Gast ansehen könnte.",
        too_many_links: "Zu dieser Person gibt es bereits 20 Links. Die Projektleitung kann einige beenden.",
    },
};

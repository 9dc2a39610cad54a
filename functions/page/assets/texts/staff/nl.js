// The page of staff in Dutch. Every language has these texts; words in braces are filled in.

import { base, passing, player } from "../shared/nl.js";

/** @type {import("../../language.js").Texts} */
export default {
    title: "Interviews",
    ...base,
    showPassword: "Wachtwoord tonen",
    more: "Meer tonen",
    signOut: "Uitloggen",
    leaveUnsaved: "Een deel van wat u hebt getypt, is niet opgeslagen. Deze pagina verlaten en het verliezen?",
    signOutUnsaved: "Een deel van wat u hebt getypt, is niet opgeslagen. Uitloggen en het verliezen?",
    toInterview: "Naar het interview van de kandidaat",

    signIn: {
        title: "Inloggen",
        company: "Bedrijf",
        name: "Gebruikersnaam of e-mailadres",
        password: "Wachtwoord",
        submit: "Inloggen",
        forgotten: "Ik ben mijn wachtwoord vergeten",
        sent: "Als dit account bestaat, krijgt u binnen enkele minuten een e-mail met een link.",
        wrong: "Bedrijf, naam of wachtwoord klopt niet. Controleer alle drie en probeer het opnieuw.",
    },

    over: {
        wrong: { title: "Dit adres is onvolledig", text: "Open de link opnieuw waar u hem kreeg, of kopieer hem helemaal in de adresbalk: sommige programma’s breken lange links af." },
        gone: { title: "Hier is niets voor u", text: "De kandidaat of het project is verwijderd of heeft nooit bestaan, of u doet er niet aan mee. Vraag het aan wie u de link stuurde." },
        company: { title: "U bent bij een ander bedrijf ingelogd", text: "Dit adres hoort bij het bedrijf {company}. Log uit, en log in met een account van dat bedrijf." },
        candidate: { title: "Deze pagina is voor medewerkers", text: "U bent als kandidaat ingelogd. Uw interview is elders. Om deze pagina te gebruiken, logt u uit, en dan in met een account van de medewerkers van {company}." },
        signedIn: { title: "U bent ingelogd", text: "Ga verder in het andere venster: wat u daar hebt getypt, staat er nog. Dit venster kunt u sluiten." },
        offline: { title: "Geen verbinding", text: "De pagina kon niet worden geladen. Controleer uw verbinding en probeer het opnieuw." },
        busy: { title: "De dienst is druk", text: "De pagina kon niet worden geladen. Probeer het zo meteen opnieuw." },
    },

    home: {
        title: "Mijn projecten",
        all: "Alle projecten van het bedrijf",
        account: "U bent ingelogd als {name}.",
        none: "U doet nog aan geen project mee. Projectleiders kunnen u toevoegen.",
        waiting: "Wachten op u: {n}",
        nothing: "Niets wacht op u",
        interviewed: "Interviews: {n}",
    },

    project: {
        waiting: "Wachten op uw beoordeling ({n})",
        judged: "Door u beoordeeld ({n})",
        interviewed: "Interviews ({n})",
        ended: "Beëindigd voordat ze voltooid waren, met antwoorden",
        done: "In dit project wacht niets op u.",
        none: "Nog niemand heeft een interview voltooid.",
        rating: "Cijfer {rating}",
    },

    statuses: {
        new: "nog niet uitgenodigd",
        invited: "uitgenodigd",
        confirmed: "bevestigd",
        interviewing: "interview bezig",
        interviewed: "voltooid",
        expired: "termijn verstreken",
        aborted: "beëindigd voordat het voltooid was",
        skipped: "ingetrokken door het bedrijf",
    },

    head: {
        title: "Over de kandidaat",
        status: "Interview",
        date: "Datum",
        length: "Opgenomen antwoorden, alles samen",
        cv: "Cv",
        open: "Cv openen",
        photo: "Foto van {name}",
    },

    waits: {
        new: "De kandidaat is nog niet uitgenodigd. De antwoorden staan hier zodra het interview voltooid is.",
        invited: "De kandidaat is uitgenodigd en nog niet begonnen. De antwoorden staan hier zodra het interview voltooid is.",
        confirmed: "De kandidaat heeft de uitnodiging aangenomen. De antwoorden staan hier zodra het interview voltooid is.",
        interviewing: "Het interview is bezig. De antwoorden staan hier zodra het voltooid is.",
        reopened: "Het interview is heropend: de kandidaat kan de antwoorden wijzigen. Ze staan hier weer zodra het voltooid is.",
        expired: "De termijn is verstreken zonder interview. Er zijn geen antwoorden.",
        aborted: "Het interview eindigde voordat het voltooid was. Er zijn geen antwoorden.",
        skipped: "Het bedrijf heeft de uitnodiging ingetrokken. Er zijn geen antwoorden.",
        elsewhere: "Dit interview vond op een ander platform plaats: hier zijn geen antwoorden te bekijken.",
    },

    guest: {
        title: "Aan iemand zonder account laten zien",
        recipient: "Wie krijgt de link?",
        hint: "Een naam die u herkent, zoals ‘Hoofd verkoop’. De gast ziet hem niet.",
        submit: "Link voor een gast maken",
        made: "Verstuur deze link zelf. Wie hem heeft, kan de antwoorden bekijken tot {date}. Hij wordt niet opnieuw getoond.",
        link: "Link voor de gast",
        copy: "Link kopiëren",
        copied: "Gekopieerd.",
    },

    question: {
        title: "Vraag {n} van {total}",
        list: "Alle vragen",
        next: "Volgende",
        toEvaluation: "Naar de beoordeling",
        close: "Sluiten",
        written: "schriftelijk",
        none: "geen antwoord te bekijken",
    },

    player: {
        ...player,
        none: "De kandidaat heeft deze vraag niet beantwoord.",
        lost: "De kandidaat kon deze vraag niet meer beantwoorden: de tijd was om en er was geen poging over.",
        unfinished: "De kandidaat is aan een antwoord begonnen en heeft het niet afgemaakt.",
        failed: "Dit antwoord is opgenomen, maar kan niet worden afgespeeld.",
    },

    judge: {
        title: "Beoordeling",
        own: "Uw cijfer",
        value: "Waarde, van 0 tot {maximum}",
        wrong: "Typ een getal van 0 tot {maximum} met hoogstens één decimaal.",
        comment: "Opmerking",
        rated: "uw cijfer: {value}",
        recommendation: "Uw aanbeveling",
        overall: "Wat vindt u van de kandidaat?",
        complete: "Beoordeling voltooien…",
        completing: "De beoordeling voltooien?",
        missing: "Dit staat nog open. U kunt toch voltooien:",
        missingQuestion: "Vraag {n}: geen waarde",
        missingCriterion: "{name}: geen waarde",
        missingRecommendation: "Geen aanbeveling",
        missingComment: "Geen woorden over de kandidaat",
        consequence: "De anderen zien dan uw beoordeling, en u ziet die van hen. U kunt de uwe later wijzigen.",
        completeNow: "Nu voltooien",
        toAnswers: "Terug naar de antwoorden",
        toProject: "Terug naar het project",
    },

    recommendations: { none: "Geen aanbeveling", definitely_no: "Beslist niet", no: "Nee", yes: "Ja", strong_yes: "Beslist" },

    obstacles: {
        reader: "U beoordeelt niet in dit project en leest alleen.",
        shared: "Deze antwoorden zijn met u gedeeld. Alleen de beoordelaars van het project beoordelen ze.",
        reopened: "Het interview is heropend. U kunt het beoordelen zodra het weer voltooid is; uw concept blijft bewaard.",
        time: "De tijd heeft dit interview beëindigd voordat het voltooid was. Alleen voltooide interviews worden beoordeeld.",
        aborted: "Dit interview eindigde voordat het voltooid was. Alleen voltooide interviews worden beoordeeld.",
        skipped: "Het bedrijf heeft de uitnodiging ingetrokken, dus dit interview wordt niet beoordeeld.",
        expired: "De termijn is verstreken, dus dit interview wordt niet beoordeeld.",
        other: "Alleen voltooide interviews worden beoordeeld.",
    },

    conflict: {
        changed: "U hebt dit ook in een ander venster gewijzigd. Daar staat:",
        emptied: "U hebt dit in een ander venster leeggemaakt.",
        mine: "Houden wat hier staat",
        theirs: "Het andere nemen",
    },

    saving: {
        nothing: "Wat u typt, wordt vanzelf als concept opgeslagen. Alleen u ziet het.",
        saved: "Als concept opgeslagen. Alleen u ziet het.",
        unsaved: "Nog niet opgeslagen.",
        saving: "Opslaan…",
        offline: "Geen verbinding. Wat u hebt getypt, staat nog op deze pagina en wordt opgeslagen zodra de verbinding terug is: sluit de pagina niet.",
        busy: "De dienst is druk. Wat u hebt getypt, staat nog op deze pagina en wordt zo opgeslagen: sluit de pagina niet.",
        signedOut: "U bent uitgelogd. Wat u hebt getypt, staat nog op deze pagina: sluit de pagina niet.",
        held: "Een van de velden vraagt uw aandacht voordat het kan worden opgeslagen.",
        completed: "U hebt deze beoordeling voltooid: {date}.",
        completedElsewhere: "U hebt deze beoordeling in een ander venster voltooid: {date}.",
        changed: "Uw wijzigingen zijn nog niet opgeslagen. De anderen zien ze zodra u ze opslaat.",
        change: "Wijzigen",
        save: "Wijzigingen opslaan",
        discard: "Wijzigingen verwerpen",
    },

    veto: {
        title: "Veto over deze kandidaat uitspreken",
        text: "Een veto voltooit de beoordeling van deze kandidaat voor allen, ook de uwe. Het kan niet worden ingetrokken.",
        label: "Waarom? Minstens 15 tekens.",
        submit: "Definitief veto uitspreken",
    },

    others: {
        title: "Wat alle beoordelaars zeggen",
        overall: "Totaalcijfer",
        none: "Nog niemand heeft een beoordeling voltooid.",
        former: "Een beoordelaar",
        at: "voltooid: {date}",
        veto: "Veto",
    },

    notice: {
        signedOut: "U bent uitgelogd. Wat u hebt getypt, blijft op deze pagina staan. Log in een tweede venster weer in en ga hier verder.",
        other: "Nu is {name} ingelogd, van wie deze beoordeling niet is. Log zelf weer in om op te slaan wat u hebt getypt, of verwerp het.",
        gone: "Deze kandidaat is intussen verwijderd, of wordt u niet meer getoond. Wat u hebt getypt, kan niet worden opgeslagen. Kopieer wat u nog nodig hebt.",
        removed: "U beoordeelt niet meer in dit project. Wat u hebt getypt, kan niet worden opgeslagen. Kopieer wat u nog nodig hebt.",
        again: "Weer inloggen",
        discard: "Verwerpen wat ik heb getypt",
    },

    refusals: {
        ...passing,
        network: passing.offline,
        throttled: "Te veel pogingen. Wacht enkele minuten en probeer het opnieuw.",
        other: "Dit is niet gelukt. Laad de pagina opnieuw. Gebeurt het weer, vraag het dan aan een projectleider.",
        not_authenticated: "U bent uitgelogd. Log weer in.",
        permission_denied: "Dit mag u niet meer. Laad de pagina opnieuw.",
        not_found: "Dit is er niet meer. Laad de pagina opnieuw.",
        evaluate_first: "Voltooi eerst uw eigen beoordeling.",
        not_interviewed: "Het interview is op dit moment niet voltooid, misschien omdat het heropend is. Uw concept blijft bewaard: voltooi het later.",
        nothing_rated: "Geef eerst minstens één waarde.",
        vetoed: "U hebt een veto uitgesproken, dus uw beoordeling blijft voltooid.",
        already_vetoed: "U hebt al een veto over deze kandidaat uitgesproken.",
        veto_disabled: "Dit project kent geen veto meer.",
        too_many_evaluators: "In dit project hebben al 128 mensen beoordeeld. Vraag het aan een projectleider.",
        interview_reopened: "Het interview is heropend. Maak de link zodra het weer voltooid is.",
        no_answers: "Er zijn geen antwoorden die een gast kan bekijken.",
        too_many_links: "Deze kandidaat heeft al 20 links. Een projectleider kan er enkele beëindigen.",
    },
};

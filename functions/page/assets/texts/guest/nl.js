// The guest's page in Dutch. Every language has these texts; words in braces are filled in.

import { base, passing, player } from "../shared/nl.js";

/** @type {import("../../language.js").Texts} */
export default {
    title: "Video-interview",
    ...base,
    ask: "Vragen? Neem contact op met",
    until: "Deze link werkt tot",

    welcome: {
        title: "De antwoorden van {name}",
        hidden: "De antwoorden van een kandidaat",
        text: "{company} nodigt u uit om een video-interview te bekijken: {project}.",
        date: "Datum van het interview",
        questions: "Vragen",
        length: "Opgenomen antwoorden, samen",
        how: "U ziet de ene vraag na de andere, met het antwoord. U kunt pauzeren, teruggaan en zo vaak terugkomen als u wilt.",
        personal: "Deze link is alleen voor u. Geef hem alstublieft niet door: iedereen die hem heeft, kan de antwoorden bekijken. {company} ziet wanneer hij wordt geopend.",
        begin: "Eerste vraag tonen",
    },

    question: {
        title: "Vraag {n} van {total}",
        next: "Verder",
        finish: "Afronden",
        keys: "De toetsen ← en → gaan terug en verder.",
        all: "Alle vragen",
        close: "Sluiten",
    },

    player: {
        ...player,
        none: "Er is geen antwoord op deze vraag.",
    },

    kinds: { written: "schriftelijk", none: "geen antwoord", converting: "wordt nog voorbereid" },

    end: {
        title: "Dat was de laatste vraag",
        text: "Wilt u zeggen wat u ervan vindt, schrijf dan aan de persoon die u deze link heeft gestuurd.",
        until: "U kunt de antwoorden opnieuw bekijken tot {date}.",
        again: "Naar het begin",
    },

    over: {
        expired: { title: "Deze link is verlopen", text: "{company} heeft de geldigheid beperkt. Vraag om een nieuwe als u de antwoorden nog wilt bekijken." },
        withdrawn: { title: "Deze link is ingetrokken", text: "{company} heeft hem beëindigd. Neem contact op als u denkt dat dit een vergissing is." },
        resting: { title: "Het interview gaat verder", text: "{company} heeft de persoon laten verdergaan met het interview. Deze link werkt weer zodra het is beëindigd: open hem later." },
        gone: { title: "Deze antwoorden worden niet meer getoond", text: "{company} toont de antwoorden van deze persoon niet meer. Neem contact op als u vragen hebt." },
        ended: { title: "Deze link werkt niet", text: "Misschien is hij onvolledig of is het interview verwijderd. Vraag de persoon die hem heeft gestuurd om een nieuwe." },
        wrong: { title: "Dit adres is onvolledig", text: "Open de link opnieuw waar u hem kreeg, of kopieer hem helemaal in de adresbalk: sommige programma’s breken lange links af. Helpt dat niet, vraag de persoon die hem heeft gestuurd dan om een nieuwe." },
        offline: { title: "Geen verbinding", text: "De antwoorden konden niet worden geladen. Controleer uw verbinding. De pagina blijft het zelf proberen." },
        busy: { title: "De dienst is druk bezet", text: "De antwoorden konden niet worden geladen. De pagina blijft het zelf proberen." },
    },

    refusals: passing,
};

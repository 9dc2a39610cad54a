// The page about accessibility in Dutch. Every language has these texts.

import { base } from "../shared/nl.js";

/** @type {import("../../language.js").Texts} */
export default {
    language: base.language,
    title: "Toegankelijkheid",
    lead: "Deze pagina’s zijn gemaakt om te voldoen aan WCAG 2.2, niveau A en AA. Dit werkt, dit nog niet, en zo krijgt u een andere manier.",
    works: {
        title: "Wat werkt",
        items: [
            "Alles kan met het toetsenbord alleen, ook opnemen, bekijken en beoordelen.",
            "Schermlezers melden de kop van elk scherm, het begin en einde van een opname en de laatste 60, 30 en 10 seconden.",
            "Teksten kunnen worden vergroot en passen in een venster van 320 pixels zonder zijwaarts te schuiven. Donkere en lichte kleuren volgen uw systeem.",
            "Bedrijven kunnen meer tijd, extra pogingen en schriftelijke antwoorden geven. Niets van wat is opgenomen of getypt gaat verloren wanneer de tijd om is.",
            "Video’s tonen de ondertitels die het bedrijf heeft toegevoegd, net als antwoorden aan wie ze bekijkt.",
        ],
    },
    partly: {
        title: "Wat niet of maar deels werkt",
        items: [
            "Video’s en antwoorden hebben alleen ondertitels als het bedrijf ze heeft toegevoegd. Vraag om een tekst.",
            "Video’s hebben geen audiodescriptie.",
            "Een vraag met opname vraagt een camera, tenzij u een videobestand stuurt of schriftelijk mag antwoorden: vraag daarom.",
            "We hebben niet met de hand getest met VoiceOver en Safari.",
        ],
    },
    ask: {
        title: "Om een andere manier vragen",
        page: "Open de link naar uw interview en kies onderaan “Ik heb hulp of meer tijd nodig”. Dat werkt voor, tijdens en na het interview, ook als de tijd om is. U hoeft geen reden te geven.",
        unknown: "Of schrijf naar het bedrijf dat u heeft uitgenodigd.",
    },
    contact: "Of vraag het rechtstreeks:",
    measured: "Door onszelf beoordeeld, voor het laatst op",
};

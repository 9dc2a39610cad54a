// The page about accessibility in German. Every language has these texts.

import { base } from "../shared/de.js";

/** @type {import("../../language.js").Texts} */
export default {
    language: base.language,
    title: "Barrierefreiheit",
    lead: "Diese Seiten sollen WCAG 2.2 der Stufen A und AA erfüllen. Hier steht, was geht, was noch nicht geht, und wie Sie einen anderen Weg bekommen.",
    works: {
        title: "Was geht",
        items: [
            "Alles lässt sich allein mit der Tastatur tun, auch aufnehmen, ansehen und beurteilen.",
            "Screenreader nennen die Überschrift jeder Ansicht, Anfang und Ende einer Aufnahme und die letzten 60, 30 und 10 Sekunden.",
            "Texte lassen sich vergrößern und passen ohne seitliches Rollen in ein Fenster von 320 Pixeln. Dunkle und helle Farben folgen Ihrem System.",
            "Unternehmen können mehr Zeit, weitere Versuche und schriftliche Antworten geben. Nichts Aufgenommenes oder Getipptes geht verloren, wenn die Zeit endet.",
            "Videos zeigen die Untertitel, die das Unternehmen hinzugefügt hat, ebenso Antworten allen, die sie ansehen.",
        ],
    },
    partly: {
        title: "Was nicht oder nur teilweise geht",
        items: [
            "Videos und Antworten haben nur Untertitel, wenn das Unternehmen sie hinzugefügt hat. Bitten Sie um einen Text.",
            "Videos haben keine Audiodeskription.",
            "Eine Frage mit Aufnahme braucht eine Kamera, außer Sie senden eine Videodatei oder dürfen schriftlich antworten: Bitten Sie darum.",
            "Mit VoiceOver und Safari haben wir nicht von Hand getestet.",
        ],
    },
    ask: {
        title: "Um einen anderen Weg bitten",
        page: "Öffnen Sie den Link zu Ihrem Interview und wählen Sie am Ende der Seite „Ich brauche Hilfe oder mehr Zeit“. Das geht vor, während und nach dem Interview, auch wenn die Zeit vorbei ist. Sie müssen nichts begründen.",
        unknown: "Oder schreiben Sie dem Unternehmen, das Sie eingeladen hat.",
    },
    contact: "Oder fragen Sie direkt:",
    measured: "Von uns selbst geprüft, zuletzt am",
};

// The page about accessibility in French. Every language has these texts.

import { base } from "../shared/fr.js";

/** @type {import("../../language.js").Texts} */
export default {
    language: base.language,
    title: "Accessibilité",
    lead: "Ces pages sont faites pour respecter les WCAG 2.2, niveaux A et AA. Voici ce qui fonctionne, ce qui ne fonctionne pas encore, et comment demander une autre façon de répondre.",
    works: {
        title: "Ce qui fonctionne",
        items: [
            "Tout peut se faire au clavier seul, y compris enregistrer, regarder et évaluer.",
            "Les lecteurs d’écran annoncent le titre de chaque écran, le début et la fin d’un enregistrement, et les 60, 30 et 10 dernières secondes.",
            "Les textes peuvent être agrandis et tiennent dans une fenêtre de 320 pixels sans défilement latéral. Les couleurs sombres ou claires suivent votre système.",
            "Les entreprises peuvent accorder plus de temps, d’autres essais et des réponses écrites. Rien de ce qui est enregistré ou saisi n’est perdu à la fin du temps.",
            "Les vidéos affichent les sous-titres que l’entreprise a ajoutés, de même que les réponses, pour les personnes qui les regardent.",
        ],
    },
    partly: {
        title: "Ce qui ne fonctionne pas, ou en partie seulement",
        items: [
            "Les vidéos et les réponses n’ont de sous-titres que si l’entreprise en a ajouté. Demandez un texte.",
            "Les vidéos n’ont pas d’audiodescription.",
            "Une question enregistrée demande une caméra, sauf si vous envoyez un fichier vidéo ou pouvez répondre par écrit : demandez-le.",
            "Nous n’avons pas fait d’essais manuels avec VoiceOver et Safari.",
        ],
    },
    ask: {
        title: "Demander une autre façon",
        page: "Ouvrez le lien de votre entretien et choisissez en bas de la page « J’ai besoin d’aide ou de plus de temps ». Cela fonctionne avant, pendant et après l’entretien, même quand le temps est écoulé. Vous n’avez pas à donner de raison.",
        unknown: "Ou écrivez à l’entreprise qui vous a invité.",
    },
    contact: "Ou demandez directement :",
    measured: "Évaluation faite par nous-mêmes, la dernière le",
};

// The guest's page in French. Every language has these texts; words in braces are filled in.

import { base, passing, player } from "../shared/fr.js";

/** @type {import("../../language.js").Texts} */
export default {
    title: "Entretien vidéo",
    ...base,
    ask: "Des questions ? Adressez-vous à",
    until: "Ce lien est valable jusqu’au",

    welcome: {
        title: "Les réponses de {name}",
        hidden: "Les réponses d’une candidature",
        text: "{company} vous invite à regarder un entretien vidéo : {project}.",
        date: "Date de l’entretien",
        questions: "Questions",
        length: "Réponses enregistrées, au total",
        how: "Vous voyez une question après l’autre, avec sa réponse. Vous pouvez faire une pause, revenir en arrière et revenir aussi souvent que vous le souhaitez.",
        personal: "Ce lien vous est personnel. Merci de ne pas le transmettre : toute personne qui l’a peut regarder les réponses. {company} voit quand il est ouvert.",
        begin: "Afficher la première question",
    },

    question: {
        title: "Question {n} sur {total}",
        next: "Suivant",
        finish: "Terminer",
        keys: "Les touches ← et → mènent à la question précédente et à la suivante.",
        all: "Toutes les questions",
        close: "Fermer",
    },

    player: {
        ...player,
        none: "Il n’y a pas de réponse à cette question.",
    },

    kinds: { written: "par écrit", none: "pas de réponse", converting: "en préparation" },

    end: {
        title: "C’était la dernière question",
        text: "Pour donner votre avis, écrivez à la personne qui vous a envoyé ce lien.",
        until: "Vous pouvez revoir les réponses jusqu’au {date}.",
        again: "Au début",
    },

    over: {
        expired: { title: "Ce lien a expiré", text: "{company} en a limité la durée. Demandez-en un nouveau si vous souhaitez encore regarder les réponses." },
        withdrawn: { title: "Ce lien a été retiré", text: "{company} y a mis fin. Renseignez-vous si vous pensez que c’est une erreur." },
        resting: { title: "L’entretien se poursuit", text: "{company} a permis à la personne de poursuivre son entretien. Ce lien fonctionnera à nouveau quand il sera terminé : ouvrez-le plus tard." },
        gone: { title: "Ces réponses ne sont plus affichées", text: "{company} ne montre plus les réponses de cette personne. Renseignez-vous si vous avez des questions." },
        ended: { title: "Ce lien ne fonctionne pas", text: "Il est peut-être incomplet, ou l’entretien a été supprimé. Demandez-en un nouveau à la personne qui vous l’a envoyé." },
        wrong: { title: "Cette adresse est incomplète", text: "Ouvrez à nouveau le lien là où vous l’avez reçu, ou copiez-le en entier dans la barre d’adresse : certains programmes coupent les liens longs. Si cela ne suffit pas, demandez-en un nouveau à la personne qui vous l’a envoyé." },
        offline: { title: "Pas de connexion", text: "Les réponses n’ont pas pu être chargées. Vérifiez votre connexion. La page continue d’essayer d’elle-même." },
        busy: { title: "Le service est très sollicité", text: "Les réponses n’ont pas pu être chargées. La page continue d’essayer d’elle-même." },
    },

    refusals: passing,
};

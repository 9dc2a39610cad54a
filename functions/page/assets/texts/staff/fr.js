// The page of staff in French. Every language has these texts; words in braces are filled in.

import { base, passing, player } from "../shared/fr.js";

/** @type {import("../../language.js").Texts} */
export default {
    title: "Entretiens",
    ...base,
    showPassword: "Afficher le mot de passe",
    more: "Afficher la suite",
    signOut: "Se déconnecter",
    leaveUnsaved: "Une partie de votre saisie n’est pas enregistrée. Quitter cette page et la perdre ?",
    signOutUnsaved: "Une partie de votre saisie n’est pas enregistrée. Se déconnecter et la perdre ?",
    toInterview: "Vers l’entretien du candidat",

    signIn: {
        title: "Se connecter",
        company: "Entreprise",
        name: "Nom d’utilisateur ou adresse e-mail",
        password: "Mot de passe",
        submit: "Se connecter",
        forgotten: "J’ai oublié mon mot de passe",
        sent: "Si ce compte existe, vous recevrez un e-mail avec un lien dans quelques minutes.",
        wrong: "L’entreprise, le nom ou le mot de passe n’est pas correct. Vérifiez les trois et réessayez.",
    },

    over: {
        wrong: { title: "Cette adresse est incomplète", text: "Ouvrez de nouveau le lien là où vous l’avez reçu, ou copiez-le en entier dans la barre d’adresse : certains programmes coupent les longs liens." },
        gone: { title: "Il n’y a rien ici pour vous", text: "Le candidat ou le projet a été supprimé ou n’a jamais existé, ou vous n’y participez pas. Demandez à la personne qui vous a envoyé le lien." },
        company: { title: "Vous êtes connecté auprès d’une autre entreprise", text: "Cette adresse appartient à l’entreprise {company}. Déconnectez-vous, puis connectez-vous avec un compte de cette entreprise." },
        candidate: { title: "Cette page est destinée au personnel", text: "Vous êtes connecté en tant que candidat. Votre entretien se trouve ailleurs. Pour utiliser cette page, déconnectez-vous, puis connectez-vous avec un compte du personnel de {company}." },
        signedIn: { title: "Vous êtes connecté", text: "Continuez dans l’autre fenêtre : votre saisie s’y trouve toujours. Vous pouvez fermer celle-ci." },
        offline: { title: "Pas de connexion", text: "La page n’a pas pu être chargée. Vérifiez votre connexion et réessayez." },
        busy: { title: "Le service est occupé", text: "La page n’a pas pu être chargée. Réessayez dans un instant." },
    },

    home: {
        title: "Mes projets",
        all: "Tous les projets de l’entreprise",
        account: "Vous êtes connecté en tant que {name}.",
        none: "Vous ne participez encore à aucun projet. Les responsables de projet peuvent vous ajouter.",
        waiting: "En attente de votre avis : {n}",
        nothing: "Rien ne vous attend",
        interviewed: "Entretiens : {n}",
    },

    project: {
        waiting: "En attente de votre évaluation ({n})",
        judged: "Évalués par vous ({n})",
        interviewed: "Entretiens ({n})",
        ended: "Arrêtés avant la fin, avec des réponses",
        done: "Rien ne vous attend dans ce projet.",
        none: "Personne n’a encore terminé d’entretien.",
        rating: "Note {rating}",
    },

    statuses: {
        new: "pas encore invité",
        invited: "invité",
        confirmed: "confirmé",
        interviewing: "entretien en cours",
        interviewed: "terminé",
        expired: "délai dépassé",
        aborted: "arrêté avant la fin",
        skipped: "retiré par l’entreprise",
    },

    head: {
        title: "À propos du candidat",
        status: "Entretien",
        date: "Date",
        length: "Réponses enregistrées, au total",
        cv: "CV",
        open: "Ouvrir le CV",
        photo: "Photo de {name}",
    },

    waits: {
        new: "Le candidat n’est pas encore invité. Les réponses seront ici une fois l’entretien terminé.",
        invited: "Le candidat est invité et n’a pas commencé. Les réponses seront ici une fois l’entretien terminé.",
        confirmed: "Le candidat a accepté l’invitation. Les réponses seront ici une fois l’entretien terminé.",
        interviewing: "L’entretien est en cours. Les réponses seront ici une fois qu’il sera terminé.",
        reopened: "L’entretien a été rouvert : le candidat peut modifier ses réponses. Elles seront de nouveau ici une fois qu’il sera terminé.",
        expired: "Le délai est passé sans entretien. Il n’y a pas de réponses.",
        aborted: "L’entretien s’est arrêté avant la fin. Il n’y a pas de réponses.",
        skipped: "L’entreprise a retiré l’invitation. Il n’y a pas de réponses.",
        elsewhere: "Cet entretien a eu lieu sur une autre plateforme : il n’y a pas de réponses à regarder ici.",
    },

    guest: {
        title: "Le montrer à une personne sans compte",
        recipient: "Qui reçoit le lien ?",
        hint: "Un nom que vous reconnaissez, par exemple « Direction des ventes ». L’invité ne le voit pas.",
        submit: "Créer un lien pour un invité",
        made: "Envoyez ce lien vous-même. Toute personne qui l’a peut regarder les réponses jusqu’à cette date : {date}. Il ne sera plus affiché.",
        link: "Lien pour l’invité",
        copy: "Copier le lien",
        copied: "Copié.",
    },

    question: {
        title: "Question {n} sur {total}",
        list: "Toutes les questions",
        next: "Suivant",
        toEvaluation: "Vers l’évaluation",
        close: "Fermer",
        written: "par écrit",
        none: "pas de réponse à regarder",
    },

    player: {
        ...player,
        none: "Le candidat n’a pas répondu à cette question.",
        lost: "Le candidat ne pouvait plus répondre à cette question : son temps était écoulé et il ne restait aucun essai.",
        unfinished: "Le candidat a commencé une réponse sans la terminer.",
        failed: "Cette réponse a été enregistrée, mais elle ne peut pas être lue.",
    },

    judge: {
        title: "Évaluation",
        own: "Votre note",
        value: "Valeur, de 0 à {maximum}",
        wrong: "Saisissez un nombre de 0 à {maximum} avec une décimale au plus.",
        comment: "Commentaire",
        rated: "votre note : {value}",
        recommendation: "Votre recommandation",
        overall: "Que pensez-vous du candidat ?",
        complete: "Terminer l’évaluation…",
        completing: "Terminer l’évaluation ?",
        missing: "Ceci reste ouvert. Vous pouvez terminer malgré tout :",
        missingQuestion: "Question {n} : pas de valeur",
        missingCriterion: "{name} : pas de valeur",
        missingRecommendation: "Pas de recommandation",
        missingComment: "Aucun mot sur le candidat",
        consequence: "Les autres verront alors votre évaluation, et vous verrez les leurs. Vous pourrez modifier la vôtre plus tard.",
        completeNow: "Terminer maintenant",
        toAnswers: "Retour aux réponses",
        toProject: "Retour au projet",
    },

    recommendations: { none: "Pas de recommandation", definitely_no: "Certainement pas", no: "Non", yes: "Oui", strong_yes: "Certainement" },

    obstacles: {
        reader: "Vous n’évaluez pas dans ce projet : vous lisez seulement.",
        shared: "Ces réponses ont été partagées avec vous. Seuls les évaluateurs du projet les jugent.",
        reopened: "L’entretien a été rouvert. Vous pourrez l’évaluer quand il sera de nouveau terminé ; votre brouillon est conservé.",
        time: "Le temps a arrêté cet entretien avant la fin. Seuls les entretiens terminés sont évalués.",
        aborted: "Cet entretien s’est arrêté avant la fin. Seuls les entretiens terminés sont évalués.",
        skipped: "L’entreprise a retiré l’invitation : cet entretien n’est pas évalué.",
        expired: "Le délai est passé : cet entretien n’est pas évalué.",
        other: "Seuls les entretiens terminés sont évalués.",
    },

    conflict: {
        changed: "Vous avez aussi modifié ceci dans une autre fenêtre. On y lit :",
        emptied: "Vous avez vidé ceci dans une autre fenêtre.",
        mine: "Garder ce qui est ici",
        theirs: "Prendre l’autre",
    },

    saving: {
        nothing: "Votre saisie est enregistrée d’elle-même comme brouillon. Vous seul le voyez.",
        saved: "Enregistré comme brouillon. Vous seul le voyez.",
        unsaved: "Pas encore enregistré.",
        saving: "Enregistrement…",
        offline: "Pas de connexion. Votre saisie attend dans cette page et sera enregistrée dès que la connexion reviendra : ne la fermez pas.",
        busy: "Le service est occupé. Votre saisie attend dans cette page et sera enregistrée dans un instant : ne la fermez pas.",
        signedOut: "Vous êtes déconnecté. Votre saisie attend dans cette page : ne la fermez pas.",
        held: "L’un des champs demande votre attention avant de pouvoir être enregistré.",
        completed: "Vous avez terminé cette évaluation : {date}.",
        completedElsewhere: "Vous avez terminé cette évaluation dans une autre fenêtre : {date}.",
        changed: "Vos modifications ne sont pas encore enregistrées. Les autres les verront quand vous les enregistrerez.",
        change: "Modifier",
        save: "Enregistrer les modifications",
        discard: "Abandonner les modifications",
    },

    veto: {
        title: "Opposer un veto",
        text: "Un veto termine l’évaluation de ce candidat pour tous, y compris la vôtre. Il ne peut pas être retiré.",
        label: "Pourquoi ? Au moins 15 caractères.",
        submit: "Opposer un veto définitif",
    },

    others: {
        title: "Ce que disent tous les évaluateurs",
        overall: "Note globale",
        none: "Personne n’a encore terminé d’évaluation.",
        former: "Un évaluateur",
        at: "terminée : {date}",
        veto: "Veto",
    },

    notice: {
        signedOut: "Vous êtes déconnecté. Votre saisie reste dans cette page. Reconnectez-vous dans une seconde fenêtre, puis continuez ici.",
        other: "{name} est maintenant connecté, et cette évaluation n’est pas la sienne. Reconnectez-vous pour enregistrer votre saisie, ou abandonnez-la.",
        gone: "Ce candidat a été supprimé entre-temps, ou ne vous est plus montré. Votre saisie ne peut pas être enregistrée. Copiez ce dont vous avez encore besoin.",
        removed: "Vous n’évaluez plus dans ce projet. Votre saisie ne peut pas être enregistrée. Copiez ce dont vous avez encore besoin.",
        again: "Se reconnecter",
        discard: "Abandonner ma saisie",
    },

    refusals: {
        ...passing,
        network: passing.offline,
        throttled: "Trop de tentatives. Attendez quelques minutes et réessayez.",
        other: "Cela n’a pas fonctionné. Rechargez la page. Si cela se reproduit, demandez au responsable du projet.",
        not_authenticated: "Vous êtes déconnecté. Reconnectez-vous.",
        permission_denied: "Vous n’en avez plus le droit. Rechargez la page.",
        not_found: "Cela n’existe plus. Rechargez la page.",
        evaluate_first: "Terminez d’abord votre propre évaluation.",
        not_interviewed: "L’entretien n’est pas terminé en ce moment, peut-être parce qu’il a été rouvert. Votre brouillon est conservé : terminez-le plus tard.",
        nothing_rated: "Donnez d’abord au moins une valeur.",
        vetoed: "Vous avez opposé un veto : votre évaluation reste terminée.",
        already_vetoed: "Vous avez déjà opposé un veto à ce candidat.",
        veto_disabled: "Ce projet n’admet plus de veto.",
        too_many_evaluators: "128 personnes ont déjà évalué dans ce projet. Demandez au responsable du projet.",
        interview_reopened: "L’entretien a été rouvert. Créez le lien quand il sera de nouveau terminé.",
        no_answers: "Il n’y a pas de réponses qu’un invité pourrait regarder.",
        too_many_links: "Ce candidat a déjà 20 liens. Un responsable peut en arrêter certains.",
    },
};

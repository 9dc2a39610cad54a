// The page of staff in Spanish. Every language has these texts; words in braces are filled in.

import { base, passing, player } from "../shared/es.js";

/** @type {import("../../language.js").Texts} */
export default {
    title: "Entrevistas",
    ...base,
    showPassword: "Mostrar la contraseña",
    more: "Mostrar más",
    signOut: "Cerrar sesión",
    leaveUnsaved: "Parte de lo que ha escrito no está guardado. ¿Salir de esta página y perderlo?",
    signOutUnsaved: "Parte de lo que ha escrito no está guardado. ¿Cerrar la sesión y perderlo?",
    toInterview: "A la entrevista del candidato",

    signIn: {
        title: "Iniciar sesión",
        company: "Empresa",
        name: "Nombre de usuario o correo electrónico",
        password: "Contraseña",
        submit: "Iniciar sesión",
        forgotten: "He olvidado mi contraseña",
        sent: "Si existe esa cuenta, recibirá un correo con un enlace en unos minutos.",
        wrong: "La empresa, el nombre o la contraseña no son correctos. Compruebe los tres e inténtelo de nuevo.",
    },

    over: {
        wrong: { title: "Esta dirección está incompleta", text: "Abra de nuevo el enlace donde lo recibió, o cópielo entero en la barra de direcciones: algunos programas cortan los enlaces largos." },
        gone: { title: "Aquí no hay nada para usted", text: "El candidato o el proyecto se eliminó o nunca existió, o usted no participa en él. Pregunte a quien le envió el enlace." },
        company: { title: "Su sesión es de otra empresa", text: "Esta dirección pertenece a la empresa {company}. Cierre la sesión e iníciela con una cuenta de esa empresa." },
        candidate: { title: "Esta página es para el personal", text: "Su sesión es la de un candidato. Su entrevista está en otro lugar. Para usar esta página, cierre la sesión e iníciela con una cuenta del personal de {company}." },
        signedIn: { title: "Ha iniciado sesión", text: "Continúe en la otra ventana: lo que ha escrito sigue allí. Puede cerrar esta." },
        offline: { title: "Sin conexión", text: "No se ha podido cargar la página. Compruebe la conexión e inténtelo de nuevo." },
        busy: { title: "El servicio está ocupado", text: "No se ha podido cargar la página. Inténtelo de nuevo en un momento." },
    },

    home: {
        title: "Mis proyectos",
        all: "Todos los proyectos de la empresa",
        account: "Ha iniciado sesión como {name}.",
        none: "Todavía no participa en ningún proyecto. Los responsables de proyectos pueden añadirle.",
        waiting: "Esperan su evaluación: {n}",
        nothing: "Nada le espera",
        interviewed: "Entrevistas: {n}",
    },

    project: {
        waiting: "Esperan su evaluación ({n})",
        judged: "Evaluados por usted ({n})",
        interviewed: "Entrevistas ({n})",
        ended: "Terminadas antes de completarse, con respuestas",
        done: "Nada le espera en este proyecto.",
        none: "Nadie ha completado todavía una entrevista.",
        rating: "Nota {rating}",
    },

    statuses: {
        new: "aún sin invitar",
        invited: "invitado",
        confirmed: "confirmado",
        interviewing: "entrevista en curso",
        interviewed: "completa",
        expired: "plazo vencido",
        aborted: "terminada antes de completarse",
        skipped: "retirada por la empresa",
    },

    head: {
        title: "Sobre el candidato",
        status: "Entrevista",
        date: "Fecha",
        length: "Respuestas grabadas, en total",
        cv: "Currículum",
        open: "Abrir el currículum",
        photo: "Foto de {name}",
    },

    waits: {
        new: "El candidato aún no está invitado. Las respuestas estarán aquí cuando la entrevista esté completa.",
        invited: "El candidato está invitado y no ha empezado. Las respuestas estarán aquí cuando la entrevista esté completa.",
        confirmed: "El candidato ha aceptado la invitación. Las respuestas estarán aquí cuando la entrevista esté completa.",
        interviewing: "La entrevista está en curso. Las respuestas estarán aquí cuando esté completa.",
        reopened: "La entrevista se ha reabierto: el candidato puede cambiar las respuestas. Volverán a estar aquí cuando esté completa.",
        expired: "El plazo venció sin entrevista. No hay respuestas.",
        aborted: "La entrevista terminó antes de completarse. No hay respuestas.",
        skipped: "La empresa ha retirado la invitación. No hay respuestas.",
        elsewhere: "Esta entrevista tuvo lugar en otra plataforma: aquí no hay respuestas que ver.",
    },

    guest: {
        title: "Mostrarla a alguien sin cuenta",
        recipient: "¿Quién recibe el enlace?",
        hint: "Un nombre que reconozca, como «Dirección de ventas». El invitado no lo ve.",
        submit: "Crear un enlace para un invitado",
        made: "Envíe usted este enlace. Quien lo tenga puede ver las respuestas hasta esta fecha: {date}. No se vuelve a mostrar.",
        link: "Enlace para el invitado",
        copy: "Copiar el enlace",
        copied: "Copiado.",
    },

    question: {
        title: "Pregunta {n} de {total}",
        list: "Todas las preguntas",
        next: "Siguiente",
        toEvaluation: "A la evaluación",
        close: "Cerrar",
        written: "por escrito",
        none: "sin respuesta que ver",
    },

    player: {
        ...player,
        none: "El candidato no ha respondido a esta pregunta.",
        lost: "El candidato ya no podía responder a esta pregunta: su tiempo había terminado y no quedaba ningún intento.",
        unfinished: "El candidato empezó una respuesta y no la terminó.",
        failed: "Esta respuesta se grabó, pero no se puede reproducir.",
    },

    judge: {
        title: "Evaluación",
        own: "Su nota",
        value: "Valor, de 0 a {maximum}",
        wrong: "Escriba un número de 0 a {maximum} con un decimal como máximo.",
        comment: "Comentario",
        rated: "su nota: {value}",
        recommendation: "Su recomendación",
        overall: "¿Qué opina del candidato?",
        complete: "Completar la evaluación…",
        completing: "¿Completar la evaluación?",
        missing: "Esto sigue abierto. Puede completarla de todos modos:",
        missingQuestion: "Pregunta {n}: sin valor",
        missingCriterion: "{name}: sin valor",
        missingRecommendation: "Sin recomendación",
        missingComment: "Ninguna palabra sobre el candidato",
        consequence: "Los demás verán entonces su evaluación, y usted verá las de ellos. Podrá cambiar la suya más tarde.",
        completeNow: "Completar ahora",
        toAnswers: "Volver a las respuestas",
        toProject: "Volver al proyecto",
    },

    recommendations: { none: "Sin recomendación", definitely_no: "En absoluto", no: "No", yes: "Sí", strong_yes: "Sin duda" },

    obstacles: {
        reader: "Usted no evalúa en este proyecto: solo lee.",
        shared: "Estas respuestas se han compartido con usted. Solo las juzgan los evaluadores del proyecto.",
        reopened: "La entrevista se ha reabierto. Podrá evaluarla cuando vuelva a estar completa; su borrador se conserva.",
        time: "El tiempo terminó esta entrevista antes de completarse. Solo se evalúan entrevistas completas.",
        aborted: "Esta entrevista terminó antes de completarse. Solo se evalúan entrevistas completas.",
        skipped: "La empresa ha retirado la invitación: esta entrevista no se evalúa.",
        expired: "El plazo ha vencido: esta entrevista no se evalúa.",
        other: "Solo se evalúan entrevistas completas.",
    },

    conflict: {
        changed: "También ha cambiado esto en otra ventana. Allí dice:",
        emptied: "Ha vaciado esto en otra ventana.",
        mine: "Conservar lo que hay aquí",
        theirs: "Tomar lo otro",
    },

    saving: {
        nothing: "Lo que escribe se guarda solo como borrador. Solo lo ve usted.",
        saved: "Guardado como borrador. Solo lo ve usted.",
        unsaved: "Aún sin guardar.",
        saving: "Guardando…",
        offline: "Sin conexión. Lo que ha escrito espera en esta página y se guardará cuando vuelva la conexión: no la cierre.",
        busy: "El servicio está ocupado. Lo que ha escrito espera en esta página y se guardará en un momento: no la cierre.",
        signedOut: "Su sesión se ha cerrado. Lo que ha escrito espera en esta página: no la cierre.",
        held: "Uno de los campos necesita su atención antes de poder guardarse.",
        completed: "Ha completado esta evaluación: {date}.",
        completedElsewhere: "Ha completado esta evaluación en otra ventana: {date}.",
        changed: "Sus cambios aún no están guardados. Los demás los verán cuando los guarde.",
        change: "Cambiar",
        save: "Guardar los cambios",
        discard: "Descartar los cambios",
    },

    veto: {
        title: "Vetar a este candidato",
        text: "Un veto completa la evaluación de este candidato para todos, también la suya. No se puede retirar.",
        label: "¿Por qué? Al menos 15 caracteres.",
        submit: "Vetar definitivamente",
    },

    others: {
        title: "Lo que dicen todos los evaluadores",
        overall: "Nota global",
        none: "Nadie ha completado todavía una evaluación.",
        former: "Un evaluador",
        at: "completada: {date}",
        veto: "Veto",
    },

    notice: {
        signedOut: "Su sesión se ha cerrado. Lo que ha escrito se conserva en esta página. Inicie sesión de nuevo en otra ventana y continúe aquí.",
        other: "Ahora la sesión es de {name}, y esta evaluación no es suya. Inicie sesión usted de nuevo para guardar lo que ha escrito, o descártelo.",
        gone: "Este candidato se ha eliminado entretanto, o ya no se le muestra. Lo que ha escrito no se puede guardar. Copie lo que aún necesite.",
        removed: "Usted ya no evalúa en este proyecto. Lo que ha escrito no se puede guardar. Copie lo que aún necesite.",
        again: "Iniciar sesión de nuevo",
        discard: "Descartar lo que he escrito",
    },

    refusals: {
        ...passing,
        network: passing.offline,
        throttled: "Demasiados intentos. Espere unos minutos e inténtelo de nuevo.",
        other: "No ha funcionado. Cargue la página de nuevo. Si vuelve a ocurrir, pregunte a un responsable del proyecto.",
        not_authenticated: "Su sesión se ha cerrado. Iníciela de nuevo.",
        permission_denied: "Ya no puede hacer esto. Cargue la página de nuevo.",
        not_found: "Esto ya no existe. Cargue la página de nuevo.",
        evaluate_first: "Complete primero su propia evaluación.",
        not_interviewed: "La entrevista no está completa en este momento, quizá porque se ha reabierto. Su borrador se conserva: complételo más tarde.",
        nothing_rated: "Dé primero al menos un valor.",
        vetoed: "Ha vetado a este candidato: su evaluación sigue completa.",
        already_vetoed: "Ya ha vetado a este candidato.",
        veto_disabled: "Este proyecto ya no tiene vetos.",
        too_many_evaluators: "128 personas han evaluado ya en este proyecto. Pregunte a un responsable del proyecto.",
        interview_reopened: "La entrevista se ha reabierto. Cree el enlace cuando vuelva a estar completa.",
        no_answers: "No hay respuestas que un invitado pueda ver.",
        too_many_links: "Este candidato ya tiene 20 enlaces. Un responsable puede terminar algunos.",
    },
};

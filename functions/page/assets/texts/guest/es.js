// The guest's page in Spanish. Every language has these texts; words in braces are filled in.

import { base, passing, player } from "../shared/es.js";

/** @type {import("../../language.js").Texts} */
export default {
    title: "Videoentrevista",
    ...base,
    ask: "¿Preguntas? Diríjase a",
    until: "Este enlace es válido hasta el",

    welcome: {
        title: "Las respuestas de {name}",
        hidden: "Las respuestas de una candidatura",
        text: "{company} le invita a ver una videoentrevista: {project}.",
        date: "Fecha de la entrevista",
        questions: "Preguntas",
        length: "Respuestas grabadas, en total",
        how: "Verá una pregunta tras otra, con su respuesta. Puede hacer una pausa, retroceder y volver tantas veces como quiera.",
        personal: "Este enlace es solo para usted. Por favor, no lo comparta: cualquiera que lo tenga puede ver las respuestas. {company} ve cuándo se abre.",
        begin: "Mostrar la primera pregunta",
    },

    question: {
        title: "Pregunta {n} de {total}",
        next: "Siguiente",
        finish: "Terminar",
        keys: "Las teclas ← y → llevan a la pregunta anterior y a la siguiente.",
        all: "Todas las preguntas",
        close: "Cerrar",
    },

    player: {
        ...player,
        none: "No hay respuesta a esta pregunta.",
    },

    kinds: { written: "por escrito", none: "sin respuesta", converting: "en preparación" },

    end: {
        title: "Era la última pregunta",
        text: "Si quiere dar su opinión, escriba a la persona que le envió este enlace.",
        until: "Puede volver a ver las respuestas hasta el {date}.",
        again: "Al principio",
    },

    over: {
        expired: { title: "Este enlace ha caducado", text: "{company} limitó su validez. Pida uno nuevo si aún quiere ver las respuestas." },
        withdrawn: { title: "Este enlace se ha retirado", text: "{company} lo ha anulado. Consulte a la empresa si cree que es un error." },
        resting: { title: "La entrevista continúa", text: "{company} permite que la persona continúe su entrevista. Este enlace volverá a funcionar cuando termine: ábralo más tarde." },
        gone: { title: "Estas respuestas ya no se muestran", text: "{company} ya no muestra las respuestas de esta persona. Consulte a la empresa si tiene preguntas." },
        ended: { title: "Este enlace no funciona", text: "Puede que esté incompleto o que la entrevista se haya eliminado. Pida uno nuevo a la persona que se lo envió." },
        wrong: { title: "Esta dirección está incompleta", text: "Abra de nuevo el enlace donde lo recibió o cópielo entero en la barra de direcciones: algunos programas cortan los enlaces largos. Si no sirve, pida uno nuevo a la persona que se lo envió." },
        offline: { title: "Sin conexión", text: "No se han podido cargar las respuestas. Compruebe su conexión. La página lo sigue intentando por sí sola." },
        busy: { title: "El servicio está ocupado", text: "No se han podido cargar las respuestas. La página lo sigue intentando por sí sola." },
    },

    refusals: passing,
};

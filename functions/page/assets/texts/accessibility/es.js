// The page about accessibility in Spanish. Every language has these texts.

import { base } from "../shared/es.js";

/** @type {import("../../language.js").Texts} */
export default {
    language: base.language,
    title: "Accesibilidad",
    lead: "Estas páginas están hechas para cumplir WCAG 2.2, niveles A y AA. Esto es lo que funciona, lo que aún no, y cómo pedir otra forma de responder.",
    works: {
        title: "Lo que funciona",
        items: [
            "Todo puede hacerse solo con el teclado, también grabar, ver y evaluar.",
            "Los lectores de pantalla anuncian el título de cada pantalla, el inicio y el fin de una grabación y los últimos 60, 30 y 10 segundos.",
            "Los textos pueden ampliarse y caben en una ventana de 320 píxeles sin desplazarse de lado. Los colores oscuros o claros siguen a su sistema.",
            "Las empresas pueden dar más tiempo, más intentos y respuestas por escrito. Nada de lo grabado o escrito se pierde cuando acaba el tiempo.",
            "Los vídeos muestran los subtítulos que la empresa ha añadido, y las respuestas también, a quienes las ven.",
        ],
    },
    partly: {
        title: "Lo que no funciona, o solo en parte",
        items: [
            "Los vídeos y las respuestas solo tienen subtítulos si la empresa los ha añadido. Pida un texto.",
            "Los vídeos no tienen audiodescripción.",
            "Una pregunta grabada necesita una cámara, salvo que envíe un archivo de vídeo o pueda responder por escrito: pídalo.",
            "No hemos probado a mano con VoiceOver y Safari.",
        ],
    },
    ask: {
        title: "Pedir otra forma",
        page: "Abra el enlace de su entrevista y elija al pie de la página «Necesito ayuda o más tiempo». Funciona antes, durante y después de la entrevista, también cuando el tiempo ha terminado. No tiene que dar motivos.",
        unknown: "O escriba a la empresa que le ha invitado.",
    },
    contact: "O pregunte directamente:",
    measured: "Evaluado por nosotros, por última vez el",
};

// Videos of the company, such as a welcome or a question.

import { tracksOf } from "../captions.js";
import { element } from "../dom.js";

/**
 * A welcome video; nothing while it cannot be played. One that asks a question while the time runs plays by itself.
 * @param {import("../main.js").App} app
 * @param {string} uri
 * @param {string} label
 * @param {boolean} [isPlayed]
 */
export function videoOf(app, uri, label, isPlayed = false) {
    const whole = element("div", { class: "video", hidden: true });
    app.api.get(uri).then((video) => {
        if (!video.streams?.mp4) return;
        const poster = video.thumb || undefined;
        whole.append(element("video", { controls: true, preload: "none", autoplay: isPlayed, playsinline: true, "aria-label": label, src: video.streams.mp4, poster }, tracksOf(video)));
        whole.hidden = false;
        // The text of a question stands beside its video, so the page works without.
    }, () => whole.remove());
    return whole;
}

// The picture of the camera, and what must be in sight with it: the time, the level of the microphone, and the button.

import { announce, button, element, fill } from "../dom.js";
import { Hearing } from "../hearing.js";
import { duration, filled } from "../language.js";

/** When the time left is announced, in seconds. */
const ANNOUNCED = [60, 30, 10];
/** How long the page counts down before it records, in seconds. */
const COUNT = 3;

/**
 * Announces the time left when it passes one of these moments.
 * @param {(left: number) => string} text
 */
export function timeTeller(text) {
    // What is left at first was told by the screen.
    let last = 0;
    return (/** @type {number} */ left) => {
        if (ANNOUNCED.some((moment) => left <= moment && last > moment)) announce(text(left));
        last = left;
    };
}

/** The time left to answer, for those who listen. @param {import("../main.js").App} app */
export const answerTime = (app) => (/** @type {number} */ left) => filled(app.texts.announce.left, { n: Math.ceil(left) });

/**
 * The parts that must be in sight together, in a window of any size: a question, which scrolls in its own box, and the rest.
 * @param {string} label of the question
 * @param {import("../dom.js").Child} asked
 * @param {...import("../dom.js").Child} rest
 */
export const inSight = (label, asked, ...rest) =>
    element("div", { class: "recorder" }, element("div", { class: "box", tabindex: 0, role: "region", "aria-label": label }, asked), rest);

/** The camera's picture with the mark of a recording or of a countdown. Its owner ends it. */
export class Stage {
    /** @param {import("../main.js").App} app */
    constructor(app) {
        this.app = app;
        const level = element("meter", { min: 0, max: 1, value: 0, "aria-label": app.texts.check.level });
        this.hearing = new Hearing(app.devices.stream, (value) => (level.value = value));
        this.mark = element("p", { class: "mark", hidden: true });
        this.unheard = element("p", { class: "note unheard", role: "status" });
        this.left = element("p", { class: "countdown" });
        this.controls = element("div", { class: "controls" });
        const preview = app.devices.preview(app.texts.check.preview);
        this.picture = element("div", { class: "picture" }, preview, this.mark, level, this.unheard);
        /** @type {ReturnType<typeof setTimeout> | undefined} */
        this.timer = undefined;
    }

    /** All of it in sight. @param {string} label of the question @param {...import("../dom.js").Child} asked */
    whole(label, ...asked) {
        return inSight(label, asked, this.picture, this.controls);
    }

    /** Shows a number or a word on the picture. @param {string} text @param {string} [kind] */
    show(text, kind = "") {
        this.mark.hidden = text === "";
        this.mark.className = `mark ${kind}`;
        if (this.mark.textContent !== text) this.mark.textContent = text;
    }

    /** Counts down on the picture. @param {() => void} done @param {number} [seconds] */
    count(done, seconds = COUNT) {
        if (seconds === 0) {
            done();
            return;
        }
        if (seconds === COUNT) announce(this.beginsIn(seconds));
        this.show(String(seconds), "number");
        this.timer = setTimeout(() => this.count(done, seconds - 1), 1000);
    }

    /** @param {number} seconds */
    beginsIn(seconds) {
        return filled(this.app.texts.prepare.left, { time: duration(this.app.texts, seconds) });
    }

    /** Says if the candidate is not heard. */
    update() {
        const text = this.hearing.isUnheard ? this.app.texts.stage.unheard : "";
        if (this.unheard.textContent !== text) this.unheard.textContent = text;
    }

    end() {
        clearTimeout(this.timer);
        this.hearing.end();
        document.body.classList.remove("recording");
    }

    /** Has only what a recording needs on the screen, with a button that ends it. @param {string} label @param {() => unknown} action @param {string} kind */
    record(label, action, kind) {
        document.body.classList.add("recording");
        const hadFocus = this.controls.contains(document.activeElement);
        const control = button(label, action, { class: kind });
        fill(this.controls, this.left, control);
        if (hadFocus) control.focus();
        return control;
    }
}

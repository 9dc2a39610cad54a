// The films of one question: the one that asks it, and its answer. It knows what the page shows of an interview, and nothing about
// the viewer.

import { FilmPlayer } from "./film.js";

/**
 * @typedef {import("./film.js").Film} Film
 *
 * @typedef {{ kind: "none", reason?: string } | { kind: "converting" } | { kind: "written", text: string } | { kind: "recorded", film: Film }} Given
 *
 * The `reason` why there is no answer names a text of the player.
 *
 * @typedef {object} Asked a question with its answer
 * @property {string} text
 * @property {Film | null} film the one that asks the question
 * @property {Given} answer
 */

/** The film of an answer; null if there is none. @param {Given} answer */
const answerFilm = (answer) => (answer.kind === "recorded" ? answer.film : null);

/** The films of one question. Its owner ends it. */
export class Playback {
    /**
     * @param {Asked} asked
     * @param {() => Promise<Asked | null>} renew reads the question with new addresses of its films; null if it is no longer shown
     * @param {import("./film.js").Speed} speed
     * @param {() => void} changed called when a player shows something else
     */
    constructor(asked, renew, speed, changed) {
        this.speed = speed;
        this.changed = changed;
        /** @param {Film | null} film @param {(asked: Asked) => Film | null} part @returns {FilmPlayer | null} */
        const playerOf = (film, part) => {
            if (!film) return null;
            const renewed = async () => {
                const now = await renew();
                return now && part(now);
            };
            const player = new FilmPlayer(film, renewed, speed, { changed: () => this.follow(player), sped: (rate) => this.setSpeed(rate) });
            return player;
        };
        /** The player of the film that asks. */
        this.question = playerOf(asked.film, ({ film }) => film);
        /** The player of the answer. */
        this.answer = playerOf(answerFilm(asked.answer), ({ answer }) => answerFilm(answer));
    }

    get players() {
        return [this.question, this.answer].filter((player) => player !== null);
    }

    /** One film is heard at a time. @param {FilmPlayer} player */
    follow(player) {
        if (player.isPlaying) this.players.filter((other) => other !== player).forEach((other) => other.pause());
        this.changed();
    }

    /** Plays all films as fast as the viewer has chosen. @param {number} rate */
    setSpeed(rate) {
        this.speed.rate = rate;
        this.players.forEach((player) => player.adoptSpeed());
        this.changed();
    }

    /** Tries again after a passing fault. */
    async retry() {
        for (const player of this.players) await player.retry();
    }

    /** Plays no more, and leaves the network to the next one. */
    end() {
        // The page shows another question by now.
        this.changed = () => {};
        this.players.forEach((player) => player.end());
    }
}

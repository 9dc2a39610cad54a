// Whether the candidate can be heard: a microphone that is muted, or the wrong one, must not be noticed by the company first.

/** Louder than silence and the noise of a room, quieter than speech, in decibels: `tests/benches/README.md` has the levels. */
const LOUD_DECIBELS = -50;
/** The level of the meter's lower end. */
const LOWEST_DECIBELS = -60;
/** How long sounds must have lasted, all together, to be a voice: a click is shorter. */
const VOICE_MILLISECONDS = 300;
/** How long nothing may be heard: at first, and of a candidate who was heard before and may be thinking. */
const PATIENCE_MILLISECONDS = { first: 5000, later: 20_000 };

/** Listens to a microphone. */
export class Hearing {
    /**
     * @param {MediaStream | null} stream
     * @param {(level: number) => void} show called with the level, 0 to 1, for each picture of the screen
     */
    constructor(stream, show) {
        /** How long there was something to hear. */
        this.loud = 0;
        /** How long the page has listened, and until when it has heard something. */
        this.listened = 0;
        this.heardUntil = 0;
        this.end = () => {};
        if (!stream?.getAudioTracks().length || typeof AudioContext === "undefined") return;
        const context = new AudioContext();
        const analyser = context.createAnalyser();
        context.createMediaStreamSource(stream).connect(analyser);
        const samples = new Float32Array(analyser.fftSize);
        let last = performance.now();
        const look = () => {
            analyser.getFloatTimeDomainData(samples);
            const power = samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length;
            const decibels = 10 * Math.log10(power + 1e-12);
            show(Math.min(Math.max(1 - decibels / LOWEST_DECIBELS, 0), 1));
            const now = performance.now();
            // A page in the background is not called for long. Until a browser lets it listen, it hears nothing.
            if (context.state === "running") this.count(Math.min(now - last, 100), decibels >= LOUD_DECIBELS);
            last = now;
            frame = requestAnimationFrame(look);
        };
        let frame = requestAnimationFrame(look);
        this.end = () => {
            cancelAnimationFrame(frame);
            context.close();
            this.end = () => {};
        };
    }

    /** @param {number} milliseconds @param {boolean} isLoud */
    count(milliseconds, isLoud) {
        this.listened += milliseconds;
        if (!isLoud) return;
        this.loud += milliseconds;
        this.heardUntil = this.listened;
    }

    /** Whether there was a voice. */
    get isHeard() {
        return this.loud >= VOICE_MILLISECONDS;
    }

    /** Whether the candidate should be told now that nothing is heard. */
    get isUnheard() {
        const { first, later } = PATIENCE_MILLISECONDS;
        return this.isHeard ? this.listened - this.heardUntil > later : this.listened > first;
    }

    /** Whether nothing was heard all the time, which was long enough to say something. */
    get wasSilent() {
        return !this.isHeard && this.listened > PATIENCE_MILLISECONDS.first / 2;
    }
}

// Camera, microphone and what they record.

import { element } from "./dom.js";

/**
 * In the order of preference. H.264 is copied by the service, other pictures are encoded again. Before avc1, which cannot say that
 * the size of the pictures changes: in Chromium, everything is broken blocks after a phone was turned.
 */
const TYPES = [
    "video/mp4;codecs=avc3.42E01E,mp4a.40.2",
    "video/mp4;codecs=avc3.42E01E,opus",
    "video/mp4;codecs=avc1.42E01E,mp4a.40.2",
    "video/mp4;codecs=avc1.42E01E,opus",
    "video/webm;codecs=vp8,opus",
];
/**
 * How often the recorder hands over what there is, and makes a key frame. Chromium hands over mp4 only up to the last key frame,
 * and its first slice is the head alone: with 2 s for both, nothing was there before 6 s.
 */
const SLICE_MILLISECONDS = 1000;
/** Without data for so long, the recorder has failed: Chromium pauses for up to 5 s. */
const SILENCE_MILLISECONDS = 15_000;

/** The types that this browser claims to record. */
export function recordableTypes() {
    if (typeof MediaRecorder === "undefined" || !navigator.mediaDevices?.getUserMedia) return [];
    return TYPES.filter((type) => MediaRecorder.isTypeSupported(type));
}

/** The camera and the microphone that the candidate has chosen. */
export class Devices {
    constructor() {
        /** @type {MediaStream | null} */
        this.stream = null;
        this.camera = "";
        this.microphone = "";
        this.types = recordableTypes();
        // One for all screens: a player goes on, out of sight, until its stream is taken away.
        this.mirror = element("video", { class: "mirror", autoplay: true, playsinline: true });
        this.mirror.muted = true;
    }

    /** Whether the browser can record at all. */
    get canRecord() {
        return this.types.length > 0;
    }

    /** Whether camera and microphone are on. */
    get isOpen() {
        return this.stream?.getTracks().every((track) => track.readyState === "live") ?? false;
    }

    /**
     * Turns on camera and microphone, and asks for permission. Fails with a `DOMException`: `NotAllowedError`, `NotFoundError`,
     * `NotReadableError`.
     */
    async open() {
        const [camera, microphone] = [this.camera, this.microphone].map((id) => (id ? { deviceId: { exact: id } } : {}));
        this.close();
        const size = { width: { ideal: 1280 }, height: { ideal: 720 }, frameRate: { ideal: 24, max: 30 } };
        this.stream = await navigator.mediaDevices.getUserMedia({
            video: { ...size, facingMode: "user", ...camera },
            audio: { echoCancellation: true, noiseSuppression: true, ...microphone },
        });
        return this.stream;
    }

    /** The picture of the camera, as in a mirror. @param {string} label */
    preview(label) {
        this.mirror.setAttribute("aria-label", label);
        this.mirror.srcObject = this.stream;
        return this.mirror;
    }

    close() {
        // First, because WebKit may hang when a stream ends that is being played.
        this.mirror.srcObject = null;
        this.stream?.getTracks().forEach((track) => track.stop());
        this.stream = null;
    }

    /** The devices to choose from; they have names only after permission. @param {"videoinput" | "audioinput"} kind */
    async list(kind) {
        const devices = await navigator.mediaDevices.enumerateDevices();
        return devices.filter((device) => device.kind === kind && device.deviceId);
    }

    /**
     * The state of the permission that the browser has just refused: `denied` for this page, `prompt` if the candidate has not
     * answered, `granted` if it is the system that refuses. Undefined if it says nothing.
     */
    async permission() {
        try {
            const names = /** @type {PermissionName[]} */ (["camera", "microphone"]);
            const states = await Promise.all(names.map(async (name) => (await navigator.permissions.query({ name })).state));
            return ["denied", "prompt", "granted"].find((state) => states.some((one) => one === state));
        } catch {
            return undefined;
        }
    }

    /** Whether there is a camera, permitted or not. */
    async hasCamera() {
        return (await navigator.mediaDevices.enumerateDevices()).some(({ kind }) => kind === "videoinput");
    }

    /** Gives up the type in use, whose recordings are empty. Returns whether another is left. */
    nextType() {
        // An encoder that makes nothing of avc3 makes nothing of avc1: they differ in where the parameters stand.
        const asAvc1 = (/** @type {string | undefined} */ type) => type?.replace("avc3", "avc1");
        const failed = asAvc1(this.types[0]);
        this.types = this.types.filter((type) => asAvc1(type) !== failed);
        return this.types.length > 0;
    }
}

/** @typedef {"stopped" | "device" | "silent" | "error" | "hidden"} EndReason why a recording has ended */

/** One recording. It hands over what it records in slices. */
export class Recording {
    /**
     * @param {MediaStream} stream
     * @param {string} type
     * @param {(slice: Blob, milliseconds: number) => void} take
     */
    constructor(stream, type, take) {
        this.began = performance.now();
        this.last = this.began;
        this.milliseconds = 0;
        const options = { mimeType: type, videoBitsPerSecond: 1_000_000, audioBitsPerSecond: 64_000, videoKeyFrameIntervalDuration: SLICE_MILLISECONDS };
        this.recorder = new MediaRecorder(stream, options);
        /** @type {EndReason} */
        this.reason = "stopped";
        const abandon = new AbortController();
        const { signal } = abandon;
        /** The reason, when everything has been handed over. @type {Promise<EndReason>} */
        this.ended = new Promise((done) => {
            this.recorder.onstop = () => {
                abandon.abort();
                clearInterval(this.watch);
                this.wakeLock?.then((lock) => lock?.release());
                done(this.reason);
            };
        });
        this.recorder.ondataavailable = ({ data }) => {
            const now = performance.now();
            if (data.size > 0) take(data, now - this.last);
            if (data.size > 0) this.last = now;
        };
        this.recorder.onerror = () => this.stop("error");
        for (const track of stream.getTracks()) {
            track.addEventListener("ended", () => this.stop("device"), { signal });
        }
        addEventListener("pagehide", () => this.stop("hidden"), { signal });
        this.watch = setInterval(() => {
            if (performance.now() - this.last > SILENCE_MILLISECONDS) this.stop("silent");
        }, 1000);
        // A screen that goes dark ends the recording on phones.
        this.wakeLock = navigator.wakeLock?.request("screen").catch(() => null);
        // Always in slices: Safari has lost recordings that were handed over in one.
        this.recorder.start(SLICE_MILLISECONDS);
    }

    /** The length so far, in seconds. */
    get seconds() {
        return (this.milliseconds || performance.now() - this.began) / 1000;
    }

    /** Ends it. @param {EndReason} [reason] */
    stop(reason = "stopped") {
        if (this.recorder.state !== "inactive") {
            this.reason = reason;
            this.milliseconds = performance.now() - this.began;
            this.recorder.stop();
        }
        return this.ended;
    }
}

// Requests to the API: credentials, retries and the clock of the service.

/** @typedef {import("./types.js").Interview} Interview */

/** How long a person waits for an answer before the page says that there is no connection, in milliseconds. */
const PATIENCE = 20_000;
/** The most bytes of a body that a browser takes for a request that outlives the page: it allows 64 KiB for all of a page's. */
const MOST_KEPT = 60_000;
/** The longest time of one attempt. */
const ATTEMPT = 30_000;

/** A request that the API has refused, or that did not reach it (`status` 0). */
export class ApiError extends Error {
    /**
     * @param {number} status
     * @param {{ code?: string, detail?: string } & Record<string, unknown>} body
     * @param {string} [method] that of the request
     * @param {number} [after] how long the service asks to wait before a repeat, in milliseconds
     */
    constructor(status, body, method, after = 0) {
        super(body.code ?? `HTTP ${status}`);
        this.status = status;
        this.method = method;
        this.after = after;
        this.code = body.code ?? "";
        this.body = body;
    }

    /** Whether a repeat may succeed. */
    get isTransient() {
        return this.status === 0 || this.status === 409 || this.status === 429 || this.status >= 500;
    }

    /** Whether the credential is no longer good. To former candidates, everything is not found. */
    get isAboutAccess() {
        return this.status === 401 || this.status === 403 || this.status === 404;
    }

    /**
     * The messages about a field of the request.
     * @param {string} name
     */
    about(name) {
        const messages = this.body[name];
        return Array.isArray(messages) ? messages.join(" ") : "";
    }
}

/**
 * Waits, at most until the browser is online again.
 * @param {number} milliseconds
 */
export function pause(milliseconds) {
    return new Promise((done) => {
        const timer = setTimeout(end, milliseconds);
        function end() {
            clearTimeout(timer);
            removeEventListener("online", end);
            done(undefined);
        }
        addEventListener("online", end);
    });
}

/** The time to wait before the next attempt: 1 s, 2 s, 4 s, … 30 s. @param {number} attempt */
export const delay = (attempt) => Math.min(1000 * 2 ** attempt, 30_000);

/** The API, as the holder of a key or of a session. */
export class Api {
    /**
     * @param {string} base the path of the API on the origin of the page
     * @param {string} [key] the key of a link; without one, the cookie of a session is used
     * @param {string} [scheme] that of the key
     */
    constructor(base, key, scheme = "ActivationKey") {
        this.base = base;
        this.key = key;
        this.scheme = scheme;
        // The clock of the browser may be wrong: only its difference to that of the service counts.
        this.ahead = 0;
        /** What precedes `base` in the references of the service, which it takes in bodies. */
        this.origin = location.origin;
    }

    /** A reference as the service writes it. @param {string} path */
    referenceTo(path) {
        return this.origin + path;
    }

    /** The time of the service, in milliseconds. */
    now() {
        return Date.now() + this.ahead;
    }

    /**
     * Sends a request, and repeats it while it fails for a passing reason.
     * @param {string} method
     * @param {string} address a path below `base`, or a reference of the API
     * @param {object} [body]
     * @param {{ match?: string, isNew?: boolean, patience?: number, keepalive?: boolean }} [options] `match`: the tag that the resource
     *   must have; `isNew`: whether there must be none; `patience`: how long to repeat, in milliseconds; `keepalive`: whether the request
     *   outlives the page, if it is small enough
     * @returns {Promise<{ body: any, tag: string | undefined }>}
     */
    async send(method, address, body, { match, isNew = false, patience = PATIENCE, keepalive = false } = {}) {
        /** @type {Record<string, string>} */
        const headers = { Accept: "application/json" };
        if (body) headers["Content-Type"] = "application/json";
        if (this.key) headers.Authorization = `${this.scheme} ${this.key}`;
        if (match) headers["If-Match"] = match;
        if (isNew) headers["If-None-Match"] = "*";
        // One key for all attempts, so that a repeat after a lost answer does nothing twice.
        if (method === "POST") headers["Idempotency-Key"] = crypto.randomUUID();
        const url = address.startsWith(`${this.base}/`) ? address : this.base + address;
        const text = body && JSON.stringify(body);
        const isSmall = new Blob([text ?? ""]).size <= MOST_KEPT;
        const until = Date.now() + patience;
        for (let attempt = 0; ; attempt += 1) {
            try {
                return await this.attempt(url, { method, headers, body: text, keepalive: keepalive && isSmall });
            } catch (error) {
                if (!(error instanceof ApiError) || !error.isTransient) throw error;
                // A limit of a day is told at once.
                const wait = Math.max(delay(attempt), error.after);
                if (Date.now() + wait > until) throw error;
                await pause(wait);
            }
        }
    }

    /**
     * @param {string} url
     * @param {RequestInit} request
     */
    async attempt(url, request) {
        const credentials = this.key ? "omit" : "same-origin";
        const signal = AbortSignal.timeout(ATTEMPT);
        /** @type {Response} */
        let response;
        /** @type {string} */
        let text;
        try {
            response = await fetch(url, { ...request, credentials, cache: "no-store", signal });
            text = await response.text();
        } catch {
            throw new ApiError(0, {});
        }
        const body = parsed(text, this);
        const after = Number(response.headers.get("Retry-After") ?? 0) * 1000;
        if (!response.ok) throw new ApiError(response.status, body ?? {}, request.method, after);
        return { body, tag: response.headers.get("ETag") ?? undefined };
    }

    /** @param {string} address @param {number} [patience] */
    async get(address, patience) {
        return (await this.send("GET", address, undefined, { patience })).body;
    }

    /**
     * All objects of a list.
     * @param {string} address
     */
    async list(address) {
        const found = [];
        for (let next = address; next; ) {
            const page = await this.get(next);
            found.push(...page.objects);
            next = page.meta.next;
        }
        return found;
    }

    /**
     * The interview of a candidate. Sets the clock.
     * @param {string} candidate
     * @param {number} [patience]
     * @returns {Promise<Interview>}
     */
    async interview(candidate, patience) {
        const interview = await this.get(`${candidate}interview/`, patience);
        this.ahead = Date.parse(interview.now) - Date.now();
        return interview;
    }

    /**
     * Advances a candidate whose status is `from`, once: an answer that was lost is recognised by the status.
     * @param {string} candidate
     * @param {string} from
     */
    async advance(candidate, from) {
        for (;;) {
            const { body: before, tag } = await this.send("GET", candidate);
            if (before.status !== from) return before;
            try {
                return (await this.send("PATCH", `${candidate}status/advance/`, undefined, { match: tag })).body;
            } catch (error) {
                // Changed since, perhaps by the attempt before.
                if (!(error instanceof ApiError) || error.status !== 412) throw error;
            }
        }
    }
}

/**
 * A response, with the references of the API as paths: the page may be open under a former base URL of the service, whose
 * responses name the present one.
 * @param {string} text
 * @param {Api} api
 */
function parsed(text, api) {
    const reference = new RegExp(`^(https?://[^/\\s]+)(${api.base}/\\S*)$`);
    const noted = (/** @type {string} */ _, /** @type {string} */ origin, /** @type {string} */ path) => {
        api.origin = origin;
        return path;
    };
    // By their names, `return_url` and `job_url` lead elsewhere, even to a path that looks like one of the API.
    const isReference = (/** @type {string} */ name) => !name.endsWith("_url");
    const toPath = (/** @type {string} */ name, /** @type {unknown} */ value) => {
        if (typeof value !== "string" || !isReference(name)) return value;
        // People write the other texts: a candidate's answer may look like a reference to another host.
        return name === "resource_uri" ? value.replace(reference, noted) : value.replace(reference, "$2");
    };
    try {
        return text ? JSON.parse(text, toPath) : undefined;
    } catch {
        // An error of a gateway in between.
        return undefined;
    }
}

// Short texts that the browser keeps for the page.

/**
 * Keeps a short text, such as a draft, or forgets it. Some browsers forbid pages to keep anything.
 * @param {string} name
 * @param {string | null} text
 */
export function remember(name, text) {
    try {
        if (text === null) localStorage.removeItem(name);
        else localStorage.setItem(name, text);
    } catch {
        // The page works without.
    }
}

/** A text that was kept. @param {string} name */
export function remembered(name) {
    try {
        return localStorage.getItem(name);
    } catch {
        return null;
    }
}

/** The names of all texts that are kept. */
export function keptTexts() {
    try {
        return Object.keys(localStorage);
    } catch {
        return [];
    }
}

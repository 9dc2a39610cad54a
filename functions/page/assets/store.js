// What the browser keeps until the service has it: takes, slices of recordings, and parts; and when the interview closes.

/** The keys of each kind of record. */
const KEYS = { interviews: ["candidate"], takes: ["uri"], slices: ["take", "sequence"], parts: ["take", "number"] };

/** @typedef {keyof typeof KEYS} Kind */

/**
 * @template T
 * @param {IDBRequest<T>} request
 * @returns {Promise<T>}
 */
function settled(request) {
    return new Promise((done, failed) => {
        request.onsuccess = () => done(request.result);
        request.onerror = () => failed(request.error);
    });
}

/** @param {string} name @returns {Promise<IDBDatabase>} */
function openDatabase(name) {
    const request = indexedDB.open(name, 1);
    request.onupgradeneeded = () => {
        for (const [kind, keyPath] of Object.entries(KEYS)) {
            request.result.createObjectStore(kind, { keyPath: keyPath.length > 1 ? keyPath : keyPath[0] });
        }
    };
    return settled(request);
}

/** Records on the disk, or in the memory of the page if the disk takes no more. */
export class Store {
    /** @param {string} name @param {IDBDatabase | null} database */
    constructor(name, database) {
        this.name = name;
        this.database = database;
        /** @type {Map<string, any>} */
        this.memory = new Map();
        // What is only in memory ends with the page: the page must say so.
        this.isDurable = database !== null;
    }

    /** Opens the store of one candidate. @param {string} name */
    static async open(name) {
        try {
            const database = await openDatabase(name);
            // Without a promise of the browser, it may clear the disk when it becomes full. It need not keep it.
            navigator.storage?.persist?.().catch(() => false);
            return new Store(name, database);
        } catch {
            return new Store(name, null);
        }
    }

    /** @param {Kind} kind @param {any} record */
    async put(kind, record) {
        const key = JSON.stringify([kind, ...KEYS[kind].map((field) => record[field])]);
        if (this.database) {
            try {
                const transaction = this.database.transaction(kind, "readwrite");
                const written = new Promise((done, failed) => {
                    transaction.oncomplete = done;
                    transaction.onabort = () => failed(transaction.error);
                });
                transaction.objectStore(kind).put(record);
                await written;
                this.memory.delete(key);
                return;
            } catch {
                // The disk is full, or the browser has closed the database.
                this.isDurable = false;
            }
        }
        this.memory.set(key, record);
    }

    /**
     * Records of a kind in the order of their keys: all, or those of a take, with numbers in a range.
     * @param {Kind} kind
     * @param {string} [take]
     * @param {number} [first]
     * @param {number} [last]
     * @returns {Promise<any[]>}
     */
    async all(kind, take, first = 0, last = Infinity) {
        const onDisk = this.database ? await read(this.database) : [];
        const [, number] = KEYS[kind];
        const fits = (/** @type {any} */ one) =>
            take === undefined || (one.take === take && one[number] >= first && one[number] <= last);
        const inMemory = [...this.memory].filter(([key, one]) => JSON.parse(key)[0] === kind && fits(one)).map(([, one]) => one);
        // Memory is newer than the disk.
        const found = new Map([...onDisk, ...inMemory].map((one) => [JSON.stringify(KEYS[kind].map((field) => one[field])), one]));
        return [...found.values()].sort((one, other) => (number ? one[number] - other[number] : 0));

        /** @param {IDBDatabase} database */
        function read(database) {
            const range = take === undefined ? undefined : IDBKeyRange.bound([take, first], [take, last]);
            return settled(database.transaction(kind).objectStore(kind).getAll(range));
        }
    }

    /** Forgets a take with all of its slices and parts. @param {string} take */
    async forget(take) {
        for (const [key, one] of [...this.memory]) {
            if (one.take === take || one.uri === take) this.memory.delete(key);
        }
        if (!this.database) return;
        const transaction = this.database.transaction(["takes", "slices", "parts"], "readwrite");
        transaction.objectStore("takes").delete(take);
        for (const kind of ["slices", "parts"]) {
            transaction.objectStore(kind).delete(IDBKeyRange.bound([take, 0], [take, Infinity]));
        }
        await new Promise((done, failed) => {
            transaction.oncomplete = done;
            transaction.onabort = () => failed(transaction.error);
        });
    }

    /** Leaves what is on the disk to others. */
    close() {
        this.database?.close();
        this.database = null;
    }

    /** Deletes everything of this candidate. */
    async destroy() {
        this.memory.clear();
        if (!this.database) return;
        this.close();
        await settled(indexedDB.deleteDatabase(this.name)).catch(() => undefined);
    }
}

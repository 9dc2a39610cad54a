"use strict";

function linkTo(entry) {
    const name = entry.method ? [element("span", { class: "name" }, entry.title), method(entry.method)] : entry.title;
    return element("a", { href: `#${entry.id}` }, name);
}

function link(entry) {
    entry.item = element("li", {}, linkTo(entry));
    entry.texts = [entry.title, `${entry.method ?? ""} ${entry.words ?? ""}`, entry.built.textContent].map((text) => {
        const lower = text.toLowerCase();
        return { text: lower, words: new Set(lower.split(/[^\p{L}\p{N}_]+/u)) };
    });
    return entry.item;
}

// The list of contents: the guide, then each group, which can be folded.
function contents(parts) {
    return parts.map((part) => {
        const list = element("ul", {}, part.entries.map(link));
        const title = element("summary", {}, part.title);
        part.fold = element("details", { open: part.id === "guide" }, title, list);
        return part.fold;
    });
}

// How well a word fits an entry, the best first: its title comes before its method and path, those before its text, and whole words
// before parts. None if the entry does not have the word.
function fit(entry, word) {
    const place = entry.texts.findIndex(({ text }) => text.includes(word));
    return place === -1 ? undefined : 2 * place + (entry.texts[place].words.has(word) ? 0 : 1);
}

// Lists what contains every word that is looked for, the best first.
function search(parts, text) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    const entries = parts.flatMap((part) => part.entries);
    const found = entries.map((entry) => ({ entry, fits: words.map((word) => fit(entry, word)) }));
    const whole = found.filter(({ fits }) => !fits.includes(undefined));
    const rank = ({ fits }) => fits.reduce((sum, one) => sum + one, 0);
    whole.sort((one, other) => rank(one) - rank(other) || one.entry.title.length - other.entry.title.length);
    const isSearch = words.length > 0;
    document.getElementById("results").replaceChildren(...(isSearch ? whole.map(({ entry }) => element("li", {}, linkTo(entry))) : []));
    parts.forEach((part) => (part.fold.hidden = isSearch));
    document.getElementById("contents").scrollTop = 0;
    const unknown = words.filter((_, index) => found.every(({ fits }) => fits[index] === undefined));
    const nothing = unknown.length ? `Nothing here has “${unknown.join("”, “")}”.` : "Nothing has all of these words.";
    const advice = `${nothing} Try fewer words, the name of a field, or a part of a path.`;
    document.getElementById("found").textContent = isSearch ? (whole.length ? `${whole.length} found` : advice) : "";
}

// Marks the section that is being read in the list of contents, and unfolds its group.
function followReading(parts) {
    const byId = new Map(parts.flatMap((part) => part.entries.map((entry) => [entry.id, { part, entry }])));
    let current;
    const observer = new IntersectionObserver(
        (changes) => {
            const reached = changes.findLast((change) => change.isIntersecting);
            const found = reached && byId.get(reached.target.id);
            if (!found || found.entry === current) {
                return;
            }
            current?.item.firstChild.removeAttribute("aria-current");
            current = found.entry;
            current.item.firstChild.setAttribute("aria-current", "location");
            found.part.fold.open = true;
            const list = document.getElementById("contents");
            const top = current.item.offsetTop - list.offsetTop;
            if (top < list.scrollTop || top > list.scrollTop + list.clientHeight - 60) {
                list.scrollTop = top - list.clientHeight / 3;
            }
        },
        { rootMargin: "-10% 0px -75% 0px" },
    );
    parts.forEach((part) => part.entries.forEach((entry) => observer.observe(entry.built)));
}

// The menu, which is folded on a phone.
function menu() {
    const button = document.getElementById("menu");
    const show = (open) => button.setAttribute("aria-expanded", open);
    button.addEventListener("click", () => show(button.getAttribute("aria-expanded") !== "true"));
    document.getElementById("contents").addEventListener("click", (event) => event.target.closest("a") && show(false));
    document.addEventListener("keydown", (event) => event.key === "Escape" && show(false));
    return show;
}

// The chosen theme is the one thing that the page keeps in the browser.
function theme() {
    const choice = document.getElementById("theme");
    const show = () => document.documentElement.setAttribute("data-theme", choice.value);
    choice.value = localStorage.getItem("theme") ?? "";
    choice.addEventListener("change", () => {
        localStorage.setItem("theme", choice.value);
        show();
    });
    show();
}

function searchBox(parts, showMenu) {
    const box = document.getElementById("search");
    box.addEventListener("input", () => search(parts, box.value));
    box.addEventListener("keydown", (event) => {
        const first = event.key === "Enter" && document.querySelector("#results a");
        if (first) {
            first.click();
        }
    });
    document.addEventListener("keydown", (event) => {
        const typing = event.target.closest("input, textarea, select");
        if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey) {
            event.preventDefault();
            showMenu(true);
            box.focus();
        }
    });
}

async function start() {
    theme();
    const showMenu = menu();
    const main = document.getElementById("reference");
    const pages = Promise.all([guidePages(FIRST_PAGES), guidePages(LAST_PAGES)]);
    const response = await fetch(`${document.body.dataset.base}/openapi.json`);
    api = await response.json();
    const [first, last] = await pages;
    // Before the operations, whose codes are linked to the guide.
    last.forEach(({ text }) => [...text.matchAll(/^\| `([a-z_]+)`/gm)].forEach(([, code]) => errorCodes.add(code)));
    const parts = [{ id: "guide", title: "Guide", entries: guide(first, last) }, ...groups(), schemas()];
    main.append(...parts.flatMap((part) => [part.built, ...part.entries.map((entry) => entry.built)]).filter(Boolean));
    document.getElementById("contents").append(element("ul", { id: "results" }), ...contents(parts));
    searchBox(parts, showMenu);
    followReading(parts);
    document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
}

start();

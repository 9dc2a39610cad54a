"use strict";

function link(entry) {
    const name = entry.method ? [element("span", { class: "name" }, entry.title), method(entry.method)] : entry.title;
    const built = element("a", { href: `#${entry.id}` }, name);
    entry.item = element("li", {}, built);
    entry.text = `${entry.title} ${entry.method ?? ""} ${entry.words ?? ""} ${entry.built.textContent}`.toLowerCase();
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

// Shows what contains every word that is looked for.
function search(parts, text) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    for (const part of parts) {
        let found = 0;
        for (const entry of part.entries) {
            entry.item.hidden = !words.every((word) => entry.text.includes(word));
            found += entry.item.hidden ? 0 : 1;
        }
        part.fold.hidden = found === 0;
        part.fold.open = words.length > 0 || part.id === "guide";
        count += found;
    }
    document.getElementById("contents").scrollTop = 0;
    document.getElementById("found").textContent = words.length ? `${count} found` : "";
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
        const first = event.key === "Enter" && document.querySelector("#contents li:not([hidden]) a");
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
    const response = await fetch(`${document.body.dataset.base}/openapi.json`);
    api = await response.json();
    const parts = [{ id: "guide", title: "Guide", entries: guide() }, ...groups(), schemas()];
    main.append(...parts.flatMap((part) => [part.built, ...part.entries.map((entry) => entry.built)]).filter(Boolean));
    document.getElementById("contents").append(...contents(parts));
    searchBox(parts, showMenu);
    followReading(parts);
    document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
}

start();

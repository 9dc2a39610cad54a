"use strict";

// Builds every part of the page as elements, never from strings of HTML: nothing in the document can run.
function element(name, attributes = {}, ...children) {
    const built = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) {
        if (key.startsWith("on")) {
            built.addEventListener(key.slice(2), value);
        } else if (value === true) {
            built.setAttribute(key, "");
        } else if (value !== false && value !== undefined) {
            built.setAttribute(key, value);
        }
    }
    built.append(...children.flat(Infinity).filter((child) => child !== undefined && child !== null));
    return built;
}

function slug(text) {
    return text.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
}

// A heading that shows a link to itself.
function heading(level, id, ...children) {
    const link = element("a", { class: "anchor", href: `#${id}`, "aria-label": "Link to this section" }, "#");
    return element(`h${level}`, {}, ...children, " ", link);
}

// The inline markup of the document: `code`, **bold** text, which may hold code, and [links](to addresses).
const INLINE = /`([^`]+)`|\*\*(.+?)\*\*|\[([^\]]+)\]\(([a-z]+:\/\/[^)\s]+)\)/g;

// The section of this page that an address leads to, also to the file of a page of the guide; other addresses as they are.
function onThisPage(href) {
    const own = `${api.servers[0].url}/docs/`;
    const [, page, section] = (href.startsWith(own) && href.slice(own.length).match(/^(?:([a-z-]+)\.md|#([\w-]+))$/)) || [];
    return page || section ? `#${page ?? section}` : href;
}

function inline(text) {
    const built = [];
    let end = 0;
    for (const { 0: markup, 1: code, 2: bold, 3: title, 4: href, index } of text.matchAll(INLINE)) {
        built.push(text.slice(end, index));
        if (code !== undefined) {
            built.push(element("code", {}, code));
        } else if (bold !== undefined) {
            built.push(element("b", {}, inline(bold)));
        } else {
            built.push(element("a", { href: onThisPage(href), rel: "noreferrer" }, inline(title)));
        }
        end = index + markup.length;
    }
    return [...built, text.slice(end)];
}

function table(lines, id) {
    const cells = (line) => line.replace(/^\||\|$/g, "").split("|").map((cell) => cell.trim());
    const head = element("tr", {}, cells(lines[0]).map((cell) => element("th", { scope: "col" }, inline(cell))));
    const named = new Set();
    const rows = lines.slice(2).map((line) => {
        const [first, ...rest] = cells(line);
        const name = first.replaceAll("`", "");
        const row = element(
            "tr",
            { id: id && first !== name && !named.has(name) && `${id}-${name}` },
            element("th", { scope: "row" }, inline(first)),
            rest.map((cell) => element("td", {}, inline(cell))),
        );
        named.add(name);
        return row;
    });
    const columns = head.children.length > 6 ? "many-columns" : undefined;
    // A group, as regions are landmarks, which need a name each.
    const group = { class: "wide", role: "group", tabindex: 0, "aria-label": "Table" };
    return element("div", group, element("table", { class: columns }, element("thead", {}, head), element("tbody", {}, rows)));
}

// The blocks of a text: paragraphs, headings, lists, tables and fenced code. Headings, and rows of a table, can be linked to where the text
// has an id.
function markdown(text = "", id) {
    // Code may contain blank lines. Each fence leaves two parts: its language and its code.
    const parts = text.trim().split(/^```(\w*)\n([^]*?)\n```$/m);
    return parts.flatMap((part, index) => {
        if (index % 3 === 0) {
            return blocks(part, id);
        }
        return index % 3 === 2 ? fenced(parts[index - 1], part) : [];
    });
}

// Code that a reader may copy, or what it prints.
function fenced(language, code) {
    const shown = element("pre", { tabindex: 0, class: language === "text" && "printed" }, element("code", {}, code));
    return ["", undefined, "text"].includes(language) ? shown : element("div", { class: "fenced" }, copyButton("Copy", () => code), shown);
}

function blocks(text, id) {
    return text.trim().split(/\n{2,}/).filter(Boolean).map((block) => {
        const lines = block.split("\n");
        if (lines[0].startsWith("## ")) {
            const title = lines[0].slice(3);
            const built = heading(3, `${id}-${slug(title)}`, inline(title));
            built.id = `${id}-${slug(title)}`;
            return built;
        }
        if (lines[0].startsWith("|")) {
            return table(lines, id);
        }
        if (lines[0].startsWith("- ")) {
            const items = block.split(/^- /m).slice(1);
            return element("ul", {}, items.map((item) => element("li", {}, inline(item.trim()))));
        }
        return element("p", {}, inline(lines.join(" ")));
    });
}

// The results of a project as a file for spreadsheets.

/** The names of the columns, which stay the same in every language. */
const COLUMNS = [
    "candidate", "external_id", "first_name", "last_name", "interviewed_at", "overall_rating", "maximum_score", "evaluations",
    "definitely_no", "no", "yes", "strong_yes", "vetos", "interview_suite_url",
];
/** The recommendations that are counted. */
const RECOMMENDATIONS = ["definitely_no", "no", "yes", "strong_yes"];
/** How many rows are read at a time. */
const SIZE = 100;

/** A value as a cell. Spreadsheets run a text that begins like a formula, so it gets a mark that makes it text. Where they separate cells by semicolons or tabs, what follows these begins a cell as well. @param {string | number | null | undefined} value */
function cellOf(value) {
    const text = String(value ?? "");
    const safe = typeof value === "string" ? text.replace(/(^|[;,\t\r\n])(?=[\s"]*[=+\-@＝＋－＠])|^(?=[\t\r])/g, "$1'") : text;
    return /[";,\t\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** All rows of a list. @param {import("../api.js").Api} api @param {string} address */
async function allOf(api, address) {
    const rows = [];
    for (let next = address; next; ) {
        const page = await api.get(next);
        rows.push(...page.objects);
        next = page.meta.next;
    }
    return rows;
}

/** Reads the results of a project, as far as the reader may see them, as comma-separated values. @param {import("../api.js").Api} api @param {any} project */
async function readResults(api, project) {
    const [candidates, results] = await Promise.all([
        allOf(api, `${project.candidates}?status=interviewed&page_size=${SIZE}`),
        allOf(api, `${project.results}?page_size=${SIZE}`),
    ]);
    const known = new Map(candidates.map((candidate) => [candidate.resource_uri, candidate]));
    const rows = results.map((result) => {
        const { external_id: key, first_name: first, last_name: last, interviewdate: date } = known.get(result.candidate) ?? {};
        // Without an evaluation of their own, evaluators get none of the others.
        const { evaluations, vetos } = result;
        const counts = RECOMMENDATIONS.map((name) => evaluations?.filter((/** @type {any} */ { recommendation }) => recommendation === name).length);
        return [result.id, key, first, last, date, result.overall_rating, result.maximum_score, evaluations?.length, ...counts, vetos?.length, result.interview_suite_url];
    });
    return [COLUMNS, ...rows].map((row) => `${row.map(cellOf).join(",")}\r\n`).join("");
}

/** Saves the results of a project as a file. @param {import("../api.js").Api} api @param {any} project */
export async function saveResults(api, project) {
    // The mark at the beginning tells spreadsheets the encoding.
    const file = new Blob(["\ufeff", await readResults(api, project)], { type: "text/csv" });
    const link = document.createElement("a");
    link.href = URL.createObjectURL(file);
    link.download = "results.csv";
    link.click();
    // The browser reads it after the click.
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

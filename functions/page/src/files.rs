//! GET /page/{version}/{path}: the style sheets, scripts and images of the pages.

use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use axum::response::Response;
use shared::http::{CACHE_FOR_EVER, CACHE_SHORTLY, FileReader, PackedFile};
use shared::{Error, Result};

include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// GET /page/{version}/{path}.
pub(crate) async fn show(
    named: Result<Path<(String, String)>, PathRejection>,
    reader: FileReader,
) -> Result<Response> {
    // No file has a path that is not UTF-8.
    let Path((version, path)) = named.map_err(|_| Error::NotFound)?;
    // The router adds a final slash to every path.
    let path = path.strip_suffix('/').unwrap_or(&path);
    let (_, file) = FILES.iter().find(|(name, _)| *name == path).ok_or(Error::NotFound)?;
    // A page that was opened before a release still imports modules, such as a language, under its own version. Cache
    // these only briefly: their content has another version than the URL.
    file.send(&reader, if version == VERSION { CACHE_FOR_EVER } else { CACHE_SHORTLY })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The compressed size of everything that a page loads in one language, in bytes.
    fn loaded(page: &PackedFile, names: [&str; 3]) -> usize {
        let files = ["icon.svg"].into_iter().chain(names);
        let lengths = files.map(|name| FILES.iter().find(|(path, _)| *path == name).unwrap().1.packed_len());
        page.packed_len() + lengths.sum::<usize>()
    }

    #[test]
    fn each_page_stays_small() {
        let candidate = loaded(&INDEX, ["main.js", "candidate.css", "texts/en.js"]);
        // 2 KB explain links that have ended and name a contact: candidates who open such a link see nothing else. 0.5
        // KB is about staff's addresses, less than a separate page would load. 0.5 KB is for expired time, reopened
        // interviews, and takes begun in another window. 3 KB save what candidates type, warn before the time ends, and
        // ask for confirmation before completing. 0.5 KB keeps typed and sent texts of two windows apart, and joins
        // smaller modules. 0.5 KB tells staff how to log in. 2.5 KB keep films visible in windows of all sizes, let
        // candidates continue without a camera or in another window, and say why a device is refused or a connection
        // waits. 0.1 KB is for a module of shared texts. 0.3 KB are for cancelled interviews, and for reporting that an
        // interview was opened. 3 KB ask for help, show requests and answers, and link to the page about accessibility.
        assert!(candidate < 46_000, "{candidate} bytes");
        let guest = loaded(&GUEST, ["guest.js", "guest.css", "texts/guest/en.js"]);
        // 2 KB are for the list of questions, question videos with captions, the playback speed, and full-window films.
        // 0.25 KB links to the page about accessibility in six languages.
        assert!(guest < 17_000, "{guest} bytes");
        let accessibility =
            loaded(&ACCESSIBILITY, ["accessibility.js", "accessibility.css", "texts/accessibility/en.js"]);
        // More than half of the page is text.
        assert!(accessibility < 11_000, "{accessibility} bytes");
        // The page may have up to 60 KB; the bound is close to its size, so that growth is noticed. 1 KB explains what
        // values mean, distinguishes first judgements from later ones, and offers the results as a file.
        let staff = loaded(&STAFF, ["staff.js", "staff.css", "texts/staff/en.js"]);
        // 2 KB answer candidates' requests for help. 1 KB is for sign-in by the company's provider and its refusals.
        assert!(staff < 36_000, "{staff} bytes");
    }

    #[test]
    fn a_page_loads_its_own_script_and_texts() {
        let known = |path: &str| {
            let text = path.strip_prefix("texts/").map(|text| {
                let of_page = ["accessibility/", "guest/", "staff/"]
                    .into_iter()
                    .find_map(|folder| text.strip_prefix(folder));
                of_page.unwrap_or(text)
            });
            match text {
                Some(text) => matches!(text, "de.js" | "en.js" | "es.js" | "fr.js" | "it.js" | "nl.js"),
                None => matches!(
                    path,
                    "accessibility.css"
                        | "accessibility.js"
                        | "candidate.css"
                        | "guest.css"
                        | "guest.js"
                        | "icon.svg"
                        | "main.js"
                        | "staff.css"
                        | "staff.js"
                ),
            }
        };
        let unknown: Vec<_> = FILES.iter().map(|(path, _)| *path).filter(|path| !known(path)).collect();
        assert!(unknown.is_empty(), "{unknown:?} is loaded by no page that `loaded` counts");
    }
}

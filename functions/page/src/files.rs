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
    // A path that is not UTF-8 names no file.
    let Path((version, path)) = named.map_err(|_| Error::NotFound)?;
    // Every path that a router sees ends in a slash.
    let path = path.strip_suffix('/').unwrap_or(&path);
    let (_, file) = FILES.iter().find(|(name, _)| *name == path).ok_or(Error::NotFound)?;
    // A page that was opened before a release imports further modules, such as a language, under its own version. Modules of
    // another version would be kept under the wrong address.
    file.send(&reader, if version == VERSION { CACHE_FOR_EVER } else { CACHE_SHORTLY })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The packed size of everything that a page loads in one language, perhaps over a phone's network.
    fn loaded(page: &PackedFile, names: [&str; 3]) -> usize {
        let files = ["icon.svg"].into_iter().chain(names);
        let lengths = files.map(|name| FILES.iter().find(|(path, _)| *path == name).unwrap().1.packed_len());
        page.packed_len() + lengths.sum::<usize>()
    }

    #[test]
    fn each_page_stays_small() {
        let candidate = loaded(&INDEX, ["main.js", "candidate.css", "texts/en.js"]);
        // 2 KB of it explain links that have ended and name a contact: candidates who open such a link see nothing else. Half a KB is
        // about addresses of staff, which is less than a page of their own would load. Another one tells of time that is over, of
        // interviews that go on, and of takes that were begun elsewhere. 3 KB save what candidates type, warn of the end of the
        // time, and ask before they complete. Half a KB keeps apart what two windows have typed and sent, and joins smaller modules.
        // Half a KB tells staff with what and where they log in. 2.5 KB keep films in sight in windows of all sizes, lead candidates on
        // without a camera or in another window, and say why a device is refused or a connection waits.
        // 0.1 KB keeps the texts that pages share in a module of their own.
        // 0.3 KB tell of interviews that were cancelled, and that an interview was opened.
        // 3 KB ask for help, show what was asked and answered, and lead to the page about accessibility.
        assert!(candidate < 46_000, "{candidate} bytes");
        let guest = loaded(&GUEST, ["guest.js", "guest.css", "texts/guest/en.js"]);
        // 2 KB show the list of questions, the films that ask them with captions, the speed, and the film as large as the window.
        // A quarter of a KB leads to the page about accessibility, in six languages.
        assert!(guest < 17_000, "{guest} bytes");
        let accessibility =
            loaded(&ACCESSIBILITY, ["accessibility.js", "accessibility.css", "texts/accessibility/en.js"]);
        // More than half of it are its texts.
        assert!(accessibility < 11_000, "{accessibility} bytes");
        // It may have 60 KB. The bound is close to what it has, so that growth is noticed.
        // 1 KB shows what values mean, tells first judgements from later ones, and offers the results as a file.
        let staff = loaded(&STAFF, ["staff.js", "staff.css", "texts/staff/en.js"]);
        // 2 KB answer what candidates ask for. 1 KB leads to the company's provider, and says why a sign-in was refused.
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

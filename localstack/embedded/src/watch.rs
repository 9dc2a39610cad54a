//! Settings for `cargo lambda watch`: the routes to the functions.

use std::fmt::Write;

use shared::config::VERSION_PATH;
use shared::http::serve::mounts::{LINK_ROOTS, MOUNTS, PAGE_ROOTS, ROOT_FUNCTION, WELL_KNOWN_FILES};

/// The function of the gateway's `$default` route.
const DEFAULT: &str = "auth";

/// A TOML configuration that routes each mount to its function, as the template does.
pub(crate) fn settings() -> String {
    let mut settings = "[watch.router]\n".to_owned();
    for (path, function) in routes() {
        // Writing to a string does not fail.
        let _ = writeln!(settings, "\"{path}\" = \"{function}\"");
    }
    settings
}

/// Path patterns and the functions that serve them.
///
/// cargo-lambda's router does not allow a parameter and the rest of a path at the same position. Where another mount
/// continues a mount with a parameter, the rest therefore begins after that parameter.
fn routes() -> impl Iterator<Item = (String, &'static str)> {
    let all = || MOUNTS.iter().flat_map(|(_, roots)| *roots);
    let parameter = move |root: &str| {
        let below = all().find_map(|other| other.strip_prefix(root)?.strip_prefix('/'));
        below?.split('/').next().filter(|segment| segment.starts_with('{'))
    };
    let mounted = MOUNTS.iter().flat_map(move |(function, roots)| {
        roots.iter().flat_map(move |root| {
            let own = parameter(root).map(|parameter| format!("{root}/{parameter}"));
            let with_rest = format!("{}/{{*path}}", own.as_deref().unwrap_or(root));
            let exact = [(*root).to_owned()].into_iter().chain(own);
            let exact = exact.flat_map(|path| [format!("{path}/"), path]);
            exact.chain([with_rest]).map(|path| (format!("{VERSION_PATH}{path}"), *function))
        })
    });
    let pages = PAGE_ROOTS.iter().map(|root| (format!("{root}/{{*path}}"), "page"));
    let links = LINK_ROOTS.iter().flat_map(|root| [(*root).to_owned(), format!("{root}/")]);
    let files = WELL_KNOWN_FILES.iter().map(|path| (*path).to_owned());
    let root = ["", "/"].map(|end| (format!("{VERSION_PATH}{end}"), ROOT_FUNCTION));
    let of_page = links.chain(files).map(|path| (path, "page"));
    mounted.chain(pages).chain(of_page).chain(root).chain([("/{*path}".to_owned(), DEFAULT)])
}

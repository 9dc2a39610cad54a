//! The view of a page, with as many rows as fit in one response.

use std::marker::PhantomData;
use std::ops::Range;

use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Serialize;

use super::ListQuery;
use super::budget::{MAX_BYTES, ResponseBudget};
use super::cursor::{encode, encode_alone};
use crate::error::{Error, Result};
use crate::http::exchange::respond::UriRow;
use crate::http::wire::Uri;
use crate::store::page::{Page, PageCursor};

/// The bytes reserved for each row, and for the start of the body. Few views exceed it.
const ROW_BYTES: usize = 1_536;

/// A page of a list.
#[derive(Debug, JsonSchema)]
#[schemars(rename = "ListOf{T}")]
pub struct PageView<T> {
    pub(super) meta: PageMeta,
    /// The resources of this page.
    // The JSON of the rows, with commas between them.
    #[schemars(with = "Vec<T>")]
    objects: Vec<u8>,
    #[schemars(skip)]
    shows: PhantomData<T>,
}

/// The position of a page in its list.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ListMeta")]
pub(super) struct PageMeta {
    /// The number of resources in the whole list.
    #[schemars(example = 1)]
    total_count: u64,
    /// The URL of the previous page; null on the first one.
    #[schemars(example = ())]
    previous: Option<Uri>,
    /// The URL of the next page; null on the last one.
    #[schemars(example = ())]
    next: Option<Uri>,
    /// The parameter `cursor` of the next page, for clients that send parameters instead of following links; null on the last page.
    #[schemars(example = ())]
    cursor: Option<String>,
}

impl<T: Serialize> PageView<T> {
    pub(super) fn new(query: &ListQuery, page: Page<T>, total: u64) -> Result<Self> {
        let Page { rows, mut next, mut previous } = page;
        // Serialize the rows before the links, because their sizes decide which row is the last. One buffer for all rows: a
        // buffer for each would be reallocated several times and then copied.
        let mut json = Vec::with_capacity((1 + rows.len()) * ROW_BYTES);
        let mut places = Vec::with_capacity(rows.len());
        for row in &rows {
            if !json.is_empty() {
                json.push(b',');
            }
            let start = json.len();
            serde_json::to_writer(&mut json, row).map_err(Error::internal)?;
            places.push(start..json.len());
        }
        let is_backwards = matches!(query.page.cursor, Some(PageCursor::Before(_)));
        if is_backwards {
            places.reverse();
        }
        // Return fewer rows instead of an error: clients follow links anyway, and would otherwise have to guess a size that fits.
        let fitting = count_fitting(&json, &places);
        let is_cut = fitting < places.len();
        places.truncate(fitting);
        let outermost = places.last().filter(|_| is_cut).and_then(|place| id_of(&json[place.clone()]));
        if is_backwards {
            places.reverse();
            previous = outermost.map(PageCursor::Before).or(previous);
        } else {
            next = outermost.map(PageCursor::After).or(next);
        }
        if let (Some(first), Some(last)) = (places.first(), places.last()) {
            json.truncate(last.end);
            json.drain(..first.start);
        }
        let number = query.page.number;
        // With a cursor, the page's number is only informational: earlier pages may have gained or lost rows.
        let (number_before, number_after) = ((number - 1).max(1), number.saturating_add(1));
        let meta = PageMeta {
            total_count: total,
            previous: previous.map(|cursor| query.link(number_before, encode(&cursor))),
            next: next.as_ref().map(|cursor| query.link(number_after, encode(cursor))),
            cursor: next.map(|cursor| encode_alone(&cursor, number_after)),
        };
        Ok(Self { meta, objects: json, shows: PhantomData })
    }
}

impl<T> IntoResponse for PageView<T> {
    fn into_response(self) -> Response {
        let meta = match serde_json::to_vec(&self.meta) {
            Ok(meta) => meta,
            Err(error) => return Error::internal(error).into_response(),
        };
        let mut body = self.objects;
        // The rows may be megabytes, so reuse their buffer for the body.
        body.splice(..0, [b"{\"meta\":", &meta[..], b",\"objects\":["].concat());
        body.extend(b"]}");
        ([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))], body).into_response()
    }
}

/// The number of rows that fit in a response, at least one. `places` are the ranges of the rows in `json`.
fn count_fitting(json: &[u8], places: &[Range<usize>]) -> usize {
    // Escaping at most doubles the length, so the rows of most pages need not be counted.
    if 2 * json.len() <= MAX_BYTES {
        return places.len();
    }
    let mut budget = ResponseBudget::default();
    let cut = places.iter().position(|place| !budget.fits_json(&json[place.clone()]));
    cut.unwrap_or(places.len())
}

/// The identifier by which the list is sorted: the last segment of the row's URL.
fn id_of(row: &[u8]) -> Option<String> {
    let UriRow { resource_uri } = serde_json::from_slice(row).ok()?;
    resource_uri.trim_end_matches('/').rsplit('/').next().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::super::tests::parse;
    use super::*;
    use crate::domain::id::Id;

    /// A row so large that only two fit in a response.
    #[derive(Serialize)]
    struct Row {
        resource_uri: String,
        text: String,
    }

    fn shown(query: &str) -> (Vec<String>, PageMeta) {
        let row = |id| Row { resource_uri: format!("http://x/y/{id}/"), text: "x".repeat(MAX_BYTES / 3) };
        let page = Page { rows: ["a", "b", "c"].map(row).into(), next: None, previous: None };
        let PageView { meta, objects, .. } = PageView::new(&parse(query).unwrap(), page, 9).unwrap();
        let rows: Vec<UriRow> = serde_json::from_slice(&[b"[", &objects[..], b"]"].concat()).unwrap();
        (rows.into_iter().map(|row| row.resource_uri).collect(), meta)
    }

    #[test]
    fn a_page_that_would_be_too_long_ends_early_and_its_links_go_on_there() {
        let (rows, meta) = shown("page_size=3");
        assert_eq!(rows, ["http://x/y/a/", "http://x/y/b/"]);
        let after = PageCursor::After("b".to_owned());
        assert!(meta.next.unwrap().as_str().ends_with(&encode(&after)));
        assert_eq!(meta.cursor, Some(encode_alone(&after, 2)));
        let before = encode_alone(&PageCursor::Before(Id::<()>::MAX.to_string()), 2);
        let (rows, meta) = shown(&format!("page_size=3&cursor={before}"));
        assert_eq!(rows, ["http://x/y/b/", "http://x/y/c/"]);
        assert!(meta.previous.unwrap().as_str().ends_with(&encode(&PageCursor::Before("b".to_owned()))));
    }
}

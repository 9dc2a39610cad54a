//! Lists as clients ask for them and get them.

use std::marker::PhantomData;

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use url::form_urlencoded;

use super::expand::ExpandFields;
use super::wire::Uri;
use crate::domain::id::Id;
use crate::error::{Error, Result};
use crate::store::page::{Page, PageCursor, PageRequest};

/// Rows of a page when the client names no number.
pub(crate) const DEFAULT_SIZE: u32 = 20;
pub(crate) const MAX_SIZE: u32 = 100;

/// The most bytes that the rows of a page take in a function's answer, of which Lambda passes on 6 MB.
// Quotation marks and backslashes take two bytes there: the answer holds the body as a JSON string.
const MAX_BYTES: usize = 5_500_000;

/// The query parameters of a list request.
#[derive(Debug)]
pub struct ListQuery {
    page: PageRequest,
    parameters: Vec<(String, String)>,
}

impl<S: Sync> FromRequestParts<S> for ListQuery {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self> {
        Self::parse(parts.uri.query())
    }
}

impl ListQuery {
    /// Reads a query string.
    pub fn parse(query: Option<&str>) -> Result<Self> {
        let parameters: Vec<(String, String)> =
            form_urlencoded::parse(query.unwrap_or_default().as_bytes()).into_owned().collect();
        let find =
            |name: &str| parameters.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str());
        let page = PageRequest {
            number: whole_number("page", find("page"), 1, u64::MAX)?,
            size: whole_number("page_size", find("page_size"), DEFAULT_SIZE, MAX_SIZE)?,
            cursor: find("cursor").map(decode).transpose()?,
        };
        Ok(Self { page, parameters })
    }

    /// Which page is wanted.
    pub fn page(&self) -> &PageRequest {
        &self.page
    }

    /// The value of a filter, read by `parse`; `None` when it is absent or empty.
    pub fn filter<T>(&self, name: &str, parse: impl FnOnce(&str) -> Result<T, String>) -> Result<Option<T>> {
        let value = self.parameters.iter().find(|(key, value)| key == name && !value.is_empty());
        value.map(|(_, value)| parse(value).map_err(|message| Error::field(name, message))).transpose()
    }

    /// Which of `names` the client wants expanded.
    pub fn expand(&self, names: &[&'static str]) -> Result<ExpandFields> {
        ExpandFields::of(&self.parameters, names)
    }

    /// Whether the page is named by its number alone, and is not the first: then it costs more than following a link.
    pub fn is_by_number(&self) -> bool {
        self.page.cursor.is_none() && self.page.number > 1
    }

    fn rows_before(&self) -> u64 {
        (self.page.number - 1).saturating_mul(u64::from(self.page.size))
    }

    /// Refuses a page past the end of a list of `total` rows, before it is read; a cursor never leads past the end.
    pub fn check_range(&self, total: u64) -> Result<()> {
        if self.is_by_number() && self.rows_before() >= total {
            return Err(Error::field("page", format!("The list ends before page {}.", self.page.number)));
        }
        Ok(())
    }

    /// The answer: `page` of the list at `address`, which has `total` rows. Rows that do not fit in one answer are left
    /// to the next page.
    pub fn answer<T: Serialize>(&self, address: &Uri, page: Page<T>, total: u64) -> Result<PageView<T>> {
        self.check_range(total)?;
        // Fewer rows instead of an error: clients follow links anyway, and would otherwise search for a size that
        // fits.
        let page = self.fit(json_of(page)?);
        let number = self.page.number;
        // Behind a cursor the number is for show: rows may have gone from, or come to, the pages before.
        let previous = page.previous.map(|cursor| self.link(address, (number - 1).max(1), cursor));
        let next = page.next.map(|cursor| self.link(address, number.saturating_add(1), cursor));
        let meta = PageMeta { total_count: total, previous, next };
        Ok(PageView { meta, objects: page.rows, shows: PhantomData })
    }

    /// The page, in memory, of a list that was read whole, in the order of the identifiers that `id` tells.
    pub fn slice<T>(&self, rows: Vec<T>, id: impl Fn(&T) -> String) -> (Page<T>, u64) {
        let (start, end) = self.range(rows.len(), |cursor| match cursor {
            PageCursor::After(last) => rows.partition_point(|row| id(row) <= *last),
            PageCursor::Before(first) => rows.partition_point(|row| id(row) < *first),
        });
        self.cut(rows, (start, end), id)
    }

    /// The page, in memory, of a list that was read whole, in any order. If the row that the link names has gone, the
    /// number of the page counts.
    pub fn slice_unsorted<T>(&self, rows: Vec<T>, id: impl Fn(&T) -> String) -> (Page<T>, u64) {
        let by_number = self.by_number().min(rows.len());
        let (start, end) = self.range(rows.len(), |cursor| match cursor {
            PageCursor::After(last) => {
                rows.iter().position(|row| id(row) == *last).map_or(by_number, |place| place + 1)
            }
            PageCursor::Before(first) => {
                let place = rows.iter().position(|row| id(row) == *first);
                place.unwrap_or_else(|| (by_number + self.page.size as usize).min(rows.len()))
            }
        });
        self.cut(rows, (start, end), id)
    }

    fn by_number(&self) -> usize {
        usize::try_from(self.rows_before()).unwrap_or(usize::MAX)
    }

    /// The rows of the page, given the place to which a cursor points.
    fn range(&self, rows: usize, place: impl Fn(&PageCursor) -> usize) -> (usize, usize) {
        let size = self.page.size as usize;
        match &self.page.cursor {
            Some(cursor @ PageCursor::After(_)) => (place(cursor), place(cursor) + size),
            Some(cursor @ PageCursor::Before(_)) => (place(cursor).saturating_sub(size), place(cursor)),
            None => {
                let start = self.by_number().min(rows);
                (start, start + size)
            }
        }
    }

    fn cut<T>(
        &self,
        rows: Vec<T>,
        (start, end): (usize, usize),
        id: impl Fn(&T) -> String,
    ) -> (Page<T>, u64) {
        let end = end.min(rows.len());
        let turned = || self.page.cursor.as_ref().and_then(PageCursor::turned);
        let place =
            |row: Option<&T>, place: fn(String) -> PageCursor| row.map(&id).map(place).or_else(turned);
        let shown = &rows[start..end];
        let next = if end < rows.len() { place(shown.last(), PageCursor::After) } else { None };
        let previous = if start > 0 { place(shown.first(), PageCursor::Before) } else { None };
        let total = rows.len() as u64;
        let rows = rows.into_iter().take(end).skip(start).collect();
        (Page { rows, next, previous }, total)
    }

    /// The page without what does not fit in an answer: the last rows, or the first for a client that reads backwards.
    fn fit(&self, page: Page<Box<RawValue>>) -> Page<Box<RawValue>> {
        let Page { mut rows, mut next, mut previous } = page;
        let mut sizes: Vec<usize> = rows.iter().map(|row| payload_size(row)).collect();
        let is_backwards = matches!(self.page.cursor, Some(PageCursor::Before(_)));
        if is_backwards {
            sizes.reverse();
        }
        let ends = sizes.iter().scan(0, |end, size| {
            *end += size;
            Some(*end)
        });
        // A single row always fits.
        let count = ends.take_while(|end| *end <= MAX_BYTES).count().max(1);
        if count < rows.len() {
            if is_backwards {
                rows.drain(..rows.len() - count);
                previous = rows.first().and_then(|row| id_of(row)).map(PageCursor::Before);
            } else {
                rows.truncate(count);
                next = rows.last().and_then(|row| id_of(row)).map(PageCursor::After);
            }
        }
        Page { rows, next, previous }
    }

    fn link(&self, address: &Uri, number: u64, cursor: PageCursor) -> Uri {
        let size = self.page.size.to_string();
        let place = [("page", number.to_string()), ("page_size", size), ("cursor", encode(&cursor))];
        self.link_to(address, place)
    }

    /// The list at `address` with the parameters of this request, but for these, which say where and how much.
    pub fn link_to<const N: usize>(&self, address: &Uri, place: [(&str, String); N]) -> Uri {
        let is_kept = |name: &String| place.iter().all(|(other, _)| name != other);
        let kept = self.parameters.iter().filter(|(name, _)| is_kept(name));
        let mut query = form_urlencoded::Serializer::new(String::new());
        Uri::new(format!("{address}?{}", query.extend_pairs(kept).extend_pairs(&place).finish()))
    }
}

/// A page of a list.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ListOf{T}")]
pub struct PageView<T> {
    meta: PageMeta,
    /// The resources of this page.
    #[schemars(with = "Vec<T>")]
    objects: Vec<Box<RawValue>>,
    #[serde(skip)]
    shows: PhantomData<T>,
}

/// The position of a page in its list.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "ListMeta")]
struct PageMeta {
    /// The number of resources in the whole list.
    #[schemars(example = 1)]
    total_count: u64,
    /// The URL of the previous page; null on the first one.
    #[schemars(example = ())]
    previous: Option<Uri>,
    /// The URL of the next page; null on the last one.
    #[schemars(example = ())]
    next: Option<Uri>,
}

impl<T: Serialize> IntoResponse for PageView<T> {
    fn into_response(self) -> Response {
        axum::Json(self).into_response()
    }
}

/// The page with its rows as they are sent.
// Their sizes decide how many there are.
fn json_of<T: Serialize>(page: Page<T>) -> Result<Page<Box<RawValue>>> {
    let Page { rows, next, previous } = page;
    let rows: Result<_, _> = rows.iter().map(serde_json::value::to_raw_value).collect();
    Ok(Page { rows: rows.map_err(Error::internal)?, next, previous })
}

/// How many bytes a row takes in a function's answer.
fn payload_size(row: &RawValue) -> usize {
    let json = row.get();
    json.len() + json.bytes().filter(|byte| matches!(byte, b'"' | b'\\')).count()
}

/// The identifier that a list is ordered by, with which the address of each of its resources ends.
fn id_of(row: &RawValue) -> Option<String> {
    #[derive(Deserialize)]
    struct UriRow {
        resource_uri: String,
    }
    let UriRow { resource_uri } = serde_json::from_str(row.get()).ok()?;
    resource_uri.trim_end_matches('/').rsplit('/').next().map(str::to_owned)
}

fn whole_number<N>(name: &str, text: Option<&str>, default: N, most: N) -> Result<N>
where
    N: std::str::FromStr + PartialOrd + From<u8> + std::fmt::Display,
{
    let Some(text) = text else { return Ok(default) };
    let digits = text.bytes().all(|byte| byte.is_ascii_digit()).then_some(text);
    let number = digits
        .and_then(|digits| digits.parse().ok())
        .filter(|number| *number >= N::from(1) && *number <= most);
    number.ok_or_else(|| Error::field(name, format!("Use a whole number from 1 to {most}.")))
}

fn encode(cursor: &PageCursor) -> String {
    let (place, id) = match cursor {
        PageCursor::After(id) => ('a', id),
        PageCursor::Before(id) => ('b', id),
    };
    URL_SAFE_NO_PAD.encode(format!("{place}{id}"))
}

fn decode(text: &str) -> Result<PageCursor> {
    let decoded = URL_SAFE_NO_PAD.decode(text).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    // An altered cursor can only name another row of the same list.
    let is_id = |id: &str| id.parse::<Id<()>>().is_ok();
    let cursor = decoded.as_deref().and_then(|decoded| match decoded.split_at_checked(1)? {
        ("a", id) if is_id(id) => Some(PageCursor::After(id.to_owned())),
        ("b", id) if is_id(id) => Some(PageCursor::Before(id.to_owned())),
        _ => None,
    });
    cursor.ok_or_else(|| Error::field("cursor", "Invalid cursor. Follow `next` and `previous` unchanged."))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

    #[test]
    fn cursors_survive_the_way_to_the_client_and_nothing_else_passes_for_one() {
        for cursor in [PageCursor::After(ID.to_owned()), PageCursor::Before(ID.to_owned())] {
            assert_eq!(decode(&encode(&cursor)).unwrap(), cursor);
        }
        for other in
            ["", "a", "!!", &URL_SAFE_NO_PAD.encode("aTALLY#0"), &URL_SAFE_NO_PAD.encode(format!("c{ID}"))]
        {
            assert!(decode(other).is_err(), "{other}");
        }
    }

    #[test]
    fn page_numbers_are_checked() {
        for good in ["", "page=3", "page_size=100", "page=1&page_size=1&other=x"] {
            assert!(ListQuery::parse(Some(good)).is_ok(), "{good}");
        }
        for bad in [
            "page=0",
            "page=-1",
            "page=x",
            "page=",
            "page_size=0",
            "page_size=101",
            "page=1.5",
            "page=%2B2",
            "cursor=x",
        ] {
            assert!(ListQuery::parse(Some(bad)).is_err(), "{bad}");
        }
        let third = ListQuery::parse(Some("page=3&page_size=10")).unwrap();
        assert!(third.check_range(21).is_ok() && third.check_range(20).is_err());
        assert!(ListQuery::parse(None).unwrap().check_range(0).is_ok());
    }

    #[test]
    fn a_list_in_memory_is_cut_where_the_cursor_points() {
        let ids = [1, 2, 3, 4, 5].map(|byte| Id::<()>::from_bytes([byte; 16]).to_string());
        let slice = |query: &str| {
            let (page, total) = ListQuery::parse(Some(query)).unwrap().slice(ids.to_vec(), String::clone);
            assert_eq!(total, 5);
            (page.rows, page.previous, page.next)
        };
        let (after, before) =
            (|n: usize| PageCursor::After(ids[n].clone()), |n: usize| PageCursor::Before(ids[n].clone()));
        let rows = |range: std::ops::Range<usize>| ids[range].to_vec();
        assert_eq!(slice("page_size=2"), (rows(0..2), None, Some(after(1))));
        assert_eq!(slice("page=3&page_size=2"), (rows(4..5), Some(before(4)), None));
        let at = |cursor| format!("page=2&page_size=2&cursor={}", encode(&cursor));
        assert_eq!(slice(&at(after(1))), (rows(2..4), Some(before(2)), Some(after(3))));
        assert_eq!(slice(&at(before(3))), (rows(1..3), Some(before(1)), Some(after(2))));
        assert_eq!(
            slice(&at(before(1))),
            (rows(0..1), None, Some(after(0))),
            "fewer rows before it than a page holds"
        );
        let none_after = slice(&at(after(4)));
        assert_eq!((none_after.0.len(), none_after.2), (0, None));
        let back = slice(&at(none_after.1.unwrap()));
        assert_eq!(back.0, rows(3..5), "the row that the cursor names is on the page before");
        let none_before = slice(&at(before(0)));
        assert_eq!((none_before.0.len(), none_before.1), (0, None));
        assert_eq!(slice(&at(none_before.2.unwrap())).0, rows(0..2));
    }

    #[test]
    fn a_list_in_another_order_is_cut_at_the_row_that_the_cursor_names() {
        let ids = [4, 1, 5, 2, 3].map(|byte| Id::<()>::from_bytes([byte; 16]).to_string());
        let slice = |query: &str| {
            let query = ListQuery::parse(Some(query)).unwrap();
            let (page, total) = query.slice_unsorted(ids.to_vec(), String::clone);
            assert_eq!(total, 5);
            (page.rows, page.previous, page.next)
        };
        let rows = |range: std::ops::Range<usize>| ids[range].to_vec();
        let (after, before) =
            (|n: usize| PageCursor::After(ids[n].clone()), |n: usize| PageCursor::Before(ids[n].clone()));
        let at = |cursor| format!("page=2&page_size=2&cursor={}", encode(&cursor));
        assert_eq!(slice("page_size=2"), (rows(0..2), None, Some(after(1))));
        assert_eq!(slice(&at(after(1))), (rows(2..4), Some(before(2)), Some(after(3))));
        assert_eq!(slice(&at(before(2))), (rows(0..2), None, Some(after(1))));
        let gone = PageCursor::After(Id::<()>::from_bytes([9; 16]).to_string());
        assert_eq!(slice(&at(gone)).0, rows(2..4), "by the number of the page");
    }

    #[test]
    fn links_keep_the_other_parameters() {
        let query = ListQuery::parse(Some("status=new&page=3&page_size=2&q=a%26b")).unwrap();
        let page = Page {
            rows: vec![1, 2],
            next: Some(PageCursor::After(ID.to_owned())),
            previous: Some(PageCursor::Before(ID.to_owned())),
        };
        let answer =
            serde_json::to_value(query.answer(&Uri::new("http://x/y/".to_owned()), page, 9).unwrap())
                .unwrap();
        let next = answer["meta"]["next"].as_str().unwrap();
        assert!(next.starts_with("http://x/y/?status=new&q=a%26b&page=4&page_size=2&cursor="), "{next}");
        assert!(answer["meta"]["previous"].as_str().unwrap().contains("&page=2&page_size=2&cursor="));
        assert_eq!(answer["meta"]["total_count"], 9);
    }
}

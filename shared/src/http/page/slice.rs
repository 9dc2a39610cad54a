//! Cuts pages from lists that the service reads whole.

use std::fmt;
use std::ops::Range;

use super::ListQuery;
use crate::store::page::{Page, PageCursor};

impl ListQuery {
    /// Cuts the requested page from a whole list, sorted by `id`. Also returns the list's length.
    pub fn slice<T>(&self, rows: Vec<T>, id: impl Fn(&T) -> String) -> (Page<T>, u64) {
        let place = match &self.page.cursor {
            Some(PageCursor::After(last)) => rows.partition_point(|row| id(row) <= *last),
            Some(PageCursor::Before(first)) => rows.partition_point(|row| id(row) < *first),
            None => self.place_by_number(rows.len()),
        };
        self.cut(rows, place, id)
    }

    /// Cuts the requested page from a whole list in any order. Also returns the list's length.
    pub fn slice_unsorted<T>(&self, rows: Vec<T>, id: impl Fn(&T) -> String) -> (Page<T>, u64) {
        // If the cursor's row has been deleted, find the page by its number.
        let by_number = self.place_by_number(rows.len());
        let place = match &self.page.cursor {
            Some(PageCursor::After(last)) => {
                rows.iter().position(|row| id(row) == *last).map_or(by_number, |place| place + 1)
            }
            Some(PageCursor::Before(first)) => {
                let end = (by_number + self.page.size as usize).min(rows.len());
                rows.iter().position(|row| id(row) == *first).unwrap_or(end)
            }
            None => by_number,
        };
        self.cut(rows, place, id)
    }

    /// Returns the page with `rows` of a list that never changes, so that the page's number is enough to find it. `list` is an
    /// identifier for the cursors, such as that of the list's owner.
    pub fn fixed_page<T>(&self, total: u64, rows: Vec<T>, list: impl fmt::Display) -> Page<T> {
        let end = self.rows_before() + rows.len() as u64;
        // Links need a cursor, but such lists ignore it.
        let next = (end < total).then(|| PageCursor::After(list.to_string()));
        let previous = (self.page.number > 1).then(|| PageCursor::Before(list.to_string()));
        Page { rows, next, previous }
    }

    fn place_by_number(&self, count: usize) -> usize {
        usize::try_from(self.rows_before()).unwrap_or(usize::MAX).min(count)
    }

    /// Cuts the page that begins at `place` or, for a client that reads backwards, ends there.
    fn cut<T>(&self, rows: Vec<T>, place: usize, id: impl Fn(&T) -> String) -> (Page<T>, u64) {
        let size = self.page.size as usize;
        let count = rows.len();
        let shown: Range<usize> = match &self.page.cursor {
            Some(PageCursor::Before(_)) => place.saturating_sub(size)..place,
            Some(PageCursor::After(_)) | None => place..(place + size).min(count),
        };
        // An empty page has no row for its links, so they use the row of the request's cursor.
        let turned = self.page.cursor.as_ref().and_then(PageCursor::turned);
        let last = rows[shown.clone()].last().map(|row| PageCursor::After(id(row)));
        let first = rows[shown.clone()].first().map(|row| PageCursor::Before(id(row)));
        let next = last.or_else(|| turned.clone()).filter(|_| shown.end < count);
        let previous = first.or(turned).filter(|_| shown.start > 0);
        let rows = rows.into_iter().take(shown.end).skip(shown.start).collect();
        (Page { rows, next, previous }, count as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::super::cursor::encode_alone;
    use super::super::tests::parse;
    use super::*;
    use crate::domain::id::Id;

    type Sliced = (Vec<String>, Option<PageCursor>, Option<PageCursor>);

    fn at(cursor: &PageCursor) -> String {
        format!("page_size=2&cursor={}", encode_alone(cursor, 2))
    }

    fn after(id: &str) -> PageCursor {
        PageCursor::After(id.to_owned())
    }

    fn before(id: &str) -> PageCursor {
        PageCursor::Before(id.to_owned())
    }

    fn slice(ids: &[String], query: &str) -> Sliced {
        let (page, total) = parse(query).unwrap().slice(ids.to_vec(), String::clone);
        assert_eq!(total, 5);
        (page.rows, page.previous, page.next)
    }

    fn slice_unsorted(ids: &[String], query: &str) -> Sliced {
        let (page, total) = parse(query).unwrap().slice_unsorted(ids.to_vec(), String::clone);
        assert_eq!(total, 5);
        (page.rows, page.previous, page.next)
    }

    #[test]
    fn a_list_in_memory_is_cut_where_the_cursor_points() {
        let ids = [1, 2, 3, 4, 5].map(|byte| Id::<()>::from_bytes([byte; 16]).to_string());
        assert_eq!(slice(&ids, "page_size=2"), (ids[0..2].to_vec(), None, Some(after(&ids[1]))));
        assert_eq!(slice(&ids, "page=3&page_size=2"), (ids[4..5].to_vec(), Some(before(&ids[4])), None));
        assert_eq!(
            slice(&ids, &at(&after(&ids[1]))),
            (ids[2..4].to_vec(), Some(before(&ids[2])), Some(after(&ids[3])))
        );
        assert_eq!(
            slice(&ids, &at(&before(&ids[3]))),
            (ids[1..3].to_vec(), Some(before(&ids[1])), Some(after(&ids[2])))
        );
        assert_eq!(
            slice(&ids, &at(&before(&ids[1]))),
            (ids[0..1].to_vec(), None, Some(after(&ids[0]))),
            "fewer rows before it than a page holds"
        );
        let none_after = slice(&ids, &at(&after(&ids[4])));
        assert_eq!((none_after.0.len(), none_after.2), (0, None));
        let back = slice(&ids, &at(&none_after.1.unwrap()));
        assert_eq!(back.0, ids[3..5], "the row that the cursor names is on the page before");
        let none_before = slice(&ids, &at(&before(&ids[0])));
        assert_eq!((none_before.0.len(), none_before.1), (0, None));
        assert_eq!(slice(&ids, &at(&none_before.2.unwrap())).0, ids[0..2]);
    }

    #[test]
    fn a_list_in_another_order_is_cut_at_the_row_that_the_cursor_names() {
        let ids = [4, 1, 5, 2, 3].map(|byte| Id::<()>::from_bytes([byte; 16]).to_string());
        assert_eq!(slice_unsorted(&ids, "page_size=2"), (ids[0..2].to_vec(), None, Some(after(&ids[1]))));
        assert_eq!(
            slice_unsorted(&ids, &at(&after(&ids[1]))),
            (ids[2..4].to_vec(), Some(before(&ids[2])), Some(after(&ids[3])))
        );
        assert_eq!(
            slice_unsorted(&ids, &at(&before(&ids[2]))),
            (ids[0..2].to_vec(), None, Some(after(&ids[1])))
        );
        let gone = after(&Id::<()>::from_bytes([9; 16]).to_string());
        assert_eq!(slice_unsorted(&ids, &at(&gone)).0, ids[2..4], "by the number of the page");
    }
}

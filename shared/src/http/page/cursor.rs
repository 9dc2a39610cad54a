//! Cursors as clients get and send them.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::domain::id::Id;
use crate::domain::privacy::legal::LegalTextId;
use crate::store::page::PageCursor;

/// The cursor of a link, which has the number of its page beside it.
// Without the number: while a release is deployed, links lead to the release before it as well.
pub(super) fn encode(cursor: &PageCursor) -> String {
    URL_SAFE_NO_PAD.encode(written(cursor))
}

/// The cursor of the page with this number, for clients that send it alone: some lists have nothing else to go by.
pub(super) fn encode_alone(cursor: &PageCursor, number: u64) -> String {
    URL_SAFE_NO_PAD.encode(format!("{}.{number}", written(cursor)))
}

fn written(cursor: &PageCursor) -> String {
    match cursor {
        PageCursor::After(id) => format!("a{id}"),
        PageCursor::Before(id) => format!("b{id}"),
    }
}

/// The cursor, and the number of its page; `None` in those of links.
pub(in crate::http) fn decode(text: &str) -> Result<(PageCursor, Option<u64>), String> {
    read(text).ok_or_else(|| "Invalid cursor. Follow `next` and `previous` unchanged.".to_owned())
}

fn read(text: &str) -> Option<(PageCursor, Option<u64>)> {
    let decoded = String::from_utf8(URL_SAFE_NO_PAD.decode(text).ok()?).ok()?;
    let (place, rest) = decoded.split_at_checked(1)?;
    let (id, number) = match rest.split_once('.') {
        Some((id, number)) => (id, Some(number.parse().ok().filter(|number| *number > 0)?)),
        None => (rest, None),
    };
    // The cursor is not signed: an altered one can only name another row of the same list.
    let is_id = id.parse::<Id<()>>().is_ok() || id.parse::<LegalTextId>().is_ok();
    is_id.then_some(())?;
    let cursor = match place {
        "a" => PageCursor::After(id.to_owned()),
        "b" => PageCursor::Before(id.to_owned()),
        _ => return None,
    };
    Some((cursor, number))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

    #[test]
    fn cursors_survive_the_way_to_the_client_and_nothing_else_passes_for_one() {
        for cursor in [ID, "consent-3"]
            .map(str::to_owned)
            .into_iter()
            .flat_map(|id| [PageCursor::After(id.clone()), PageCursor::Before(id)])
        {
            assert_eq!(decode(&encode_alone(&cursor, 7)), Ok((cursor, Some(7))));
        }
        let of_link = PageCursor::After(ID.to_owned());
        assert_eq!(decode(&encode(&of_link)), Ok((of_link, None)));
        for other in
            ["aTALLY#0", &format!("c{ID}.1"), &format!("a{ID}."), &format!("a{ID}.0"), &format!("a{ID}.-1")]
        {
            assert!(decode(&URL_SAFE_NO_PAD.encode(other)).is_err(), "{other}");
        }
        for other in ["", "a", "!!"] {
            assert!(decode(other).is_err(), "{other}");
        }
    }
}

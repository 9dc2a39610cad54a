//! Cursors as clients get and send them.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::domain::id::Id;
use crate::domain::privacy::legal::LegalTextId;
use crate::store::page::PageCursor;

pub(super) fn encode(cursor: &PageCursor) -> String {
    URL_SAFE_NO_PAD.encode(match cursor {
        PageCursor::After(id) => format!("a{id}"),
        PageCursor::Before(id) => format!("b{id}"),
    })
}

pub(in crate::http) fn decode(text: &str) -> Result<PageCursor, String> {
    read(text).ok_or_else(|| "Invalid cursor. Follow `next` and `previous` unchanged.".to_owned())
}

fn read(text: &str) -> Option<PageCursor> {
    let decoded = String::from_utf8(URL_SAFE_NO_PAD.decode(text).ok()?).ok()?;
    let (place, id) = decoded.split_at_checked(1)?;
    // The cursor is not signed: an altered one can only name another row of the same list.
    let is_id = id.parse::<Id<()>>().is_ok() || id.parse::<LegalTextId>().is_ok();
    is_id.then_some(())?;
    match place {
        "a" => Some(PageCursor::After(id.to_owned())),
        "b" => Some(PageCursor::Before(id.to_owned())),
        _ => None,
    }
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
            assert_eq!(decode(&encode(&cursor)).unwrap(), cursor);
        }
        for other in
            ["", "a", "!!", &URL_SAFE_NO_PAD.encode("aTALLY#0"), &URL_SAFE_NO_PAD.encode(format!("c{ID}"))]
        {
            assert!(decode(other).is_err(), "{other}");
        }
    }
}

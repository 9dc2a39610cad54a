use super::*;
use crate::id::Id;
use crate::samples;

fn now() -> DateTime<Utc> {
    "2026-11-28T10:00:00Z".parse().unwrap()
}

fn export(at: DateTime<Utc>) -> CompanyExport {
    CompanyExport::requested(Id::from_bytes([1; 16]), samples::company().id, Id::from_bytes([2; 16]), at)
}

fn ended(at: DateTime<Utc>) -> CompanyExport {
    export(at).failed(ExportFailure::Internal, at)
}

#[test]
fn one_export_at_a_time_and_four_in_a_day_may_be_requested() {
    assert_eq!(CompanyExport::check_request([], now()), Ok(()));
    assert_eq!(CompanyExport::check_request([&export(now())], now()), Err(ExportRefusal::Running));
    let running = export(now()).lease(now()).unwrap();
    assert_eq!(CompanyExport::check_request([&running], now()), Err(ExportRefusal::Running));
    assert_eq!(CompanyExport::check_request([&running.deleted(now())], now()), Ok(()));
    let hours = |hours| now() - TimeDelta::hours(hours);
    let many = [1, 30, 5, 24, 3].map(|ago| ended(hours(ago)));
    assert_eq!(CompanyExport::check_request(&many, now()), Ok(()));
    let many = [1, 30, 5, 23, 3].map(|ago| ended(hours(ago)).deleted(now()));
    let refused = CompanyExport::check_request(&many, now());
    assert_eq!(refused, Err(ExportRefusal::Throttled(TimeDelta::hours(1))));
}

#[test]
fn an_export_is_given_up_after_three_attempts_and_an_erasure_is_none() {
    let mut one = export(now());
    for _ in 0..2 {
        one = one.lease(now()).unwrap().release(now());
    }
    let erased = |number| {
        let number = u8::try_from(number).unwrap();
        ErasedItem::Customer { customer: Id::from_bytes([number; 16]) }
    };
    let mut again = one.lease(now()).unwrap();
    for number in 0..=MOST_ERASED {
        again = again.after_erasure(erased(number), now(), now()).unwrap();
    }
    assert_eq!((again.status, again.work), (ExportStatus::Pending, WorkState::due(now())));
    let last = again.lease(now()).unwrap();
    assert_eq!(last.clone().lease(now()), None);
    let later = now() - TimeDelta::minutes(16);
    let known = last.clone().after_erasure(erased(0), later, now()).unwrap();
    assert_eq!(known.after_erasure(erased(0), later, now()), None, "its worker is told already");
    assert_eq!(
        last.after_erasure(erased(0), later - TimeDelta::seconds(1), now()),
        None,
        "it was gone before"
    );
}

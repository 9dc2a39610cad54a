//! Pages of candidates: by number, by link, of those with a status or an email.

use serde_json::{Value, json};
use shared::domain::candidate::CandidateStatus;
use tests::app::TestApp;
use tests::caller::{Caller, Staff};
use tests::http::send_each;
use tests::{assert_refusal, assert_refusals};

/// One page of a list.
struct CandidatePage {
    uris: Vec<String>,
    total: Value,
    next: Option<String>,
    previous: Option<String>,
}

async fn page(caller: &Staff, target: &str) -> CandidatePage {
    let list = caller.get(target).await.expect(200).json();
    let link = |name: &str| list["meta"][name].as_str().map(str::to_owned);
    let objects = list["objects"].as_array().unwrap().iter();
    CandidatePage {
        uris: objects.map(|candidate| candidate["resource_uri"].as_str().unwrap().to_owned()).collect(),
        total: list["meta"]["total_count"].clone(),
        next: link("next"),
        previous: link("previous"),
    }
}

/// A project with so many candidates.
async fn given(owner: &Staff, count: usize) -> (String, Vec<String>) {
    let project = owner.project(json!({})).await;
    let mut candidates = Vec::new();
    for _ in 0..count {
        candidates.push(owner.candidate(&project, json!({})).await);
    }
    (format!("{project}candidates/"), candidates)
}

#[tokio::test]
async fn an_empty_list_has_one_empty_page() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let (list, _) = given(&owner, 0).await;
    let empty = json!({ "meta": { "total_count": 0, "previous": null, "next": null, "cursor": null }, "objects": [] });
    owner.get(&list).await.expect_json(200, empty.clone());
    owner.get(&format!("{list}?status=invited")).await.expect_json(200, empty);
    assert_refusal!(owner.get(&format!("{list}?page=2")).await, @r#"400 {"page":["The list ends before page 2."]}"#);
}

#[tokio::test]
async fn a_page_has_twenty_rows_unless_asked_otherwise() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let (list, candidates) = given(&owner, 21).await;
    let first = page(&owner, &list).await;
    assert_eq!(first.uris, candidates[..20], "oldest first");
    assert_eq!((first.total, first.previous), (json!(21), None));
    let second = page(&owner, &first.next.unwrap()).await;
    assert_eq!((second.uris.as_slice(), second.next), (&candidates[20..], None));
    let all = page(&owner, &format!("{list}?page_size=100")).await;
    assert_eq!((all.uris, all.next), (candidates, None));
}

#[tokio::test]
async fn links_lead_forth_and_back_through_25_candidates() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let (list, candidates) = given(&owner, 25).await;
    let expected: Vec<&[String]> = candidates.chunks(10).collect();

    let mut target = format!("{list}?page_size=10");
    for (number, rows) in expected.iter().enumerate() {
        let by_link = page(&owner, &target).await;
        assert_eq!(by_link.uris, **rows);
        assert_eq!(by_link.total, 25);
        let by_number = page(&owner, &format!("{list}?page_size=10&page={}", number + 1)).await;
        assert_eq!(by_number.uris, **rows);
        match (number, by_link.next) {
            (2, next) => assert_eq!(next, None),
            (_, next) => target = next.unwrap(),
        }
        if number < 2 {
            assert!(target.starts_with(&format!("{list}?page={}&page_size=10", number + 2)), "{target}");
        }
    }
    for rows in [expected[1], expected[0]] {
        target = page(&owner, &target).await.previous.unwrap();
        assert_eq!(page(&owner, &target).await.uris, *rows);
    }
    assert_eq!(page(&owner, &target).await.previous, None);
}

#[tokio::test]
async fn a_list_can_be_narrowed_to_a_status() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let (list, candidates) = given(&owner, 9).await;
    let invited: Vec<String> = candidates.iter().step_by(2).cloned().collect();
    owner.set_status(list.strip_suffix("candidates/").unwrap(), "40-running").await.expect(200);
    for uri in &invited {
        let ready = json!({ "email": "ada@mail.example", "deadline": app.clock().in_days(7) });
        owner.patch(uri, ready).await.expect(200);
        owner.advance(uri).await.expect(200);
    }
    let found = page(&owner, &format!("{list}?status=invited")).await;
    assert_eq!((found.uris, found.total), (invited.clone(), json!(5)));
    assert_eq!(page(&owner, &format!("{list}?status=new")).await.uris.len(), 4);
    assert_eq!(page(&owner, &format!("{list}?status=skipped")).await.total, 0);
    assert_eq!(page(&owner, &format!("{list}?status=")).await.total, 9, "no value is no filter");
    assert_refusal!(owner.get(&format!("{list}?status=Invited")).await, @r#"400 {"status":["\"Invited\" is not a valid choice. Use one of: new, invited, confirmed, interviewing, interviewed, expired, aborted, skipped."]}"#);

    // Pages of it as well.
    let first = page(&owner, &format!("{list}?status=invited&page_size=2")).await;
    let second = page(&owner, &first.next.unwrap()).await;
    let third = page(&owner, second.next.as_deref().unwrap()).await;
    assert_eq!([first.uris, second.uris.clone(), third.uris].concat(), invited);
    assert_eq!((third.next, third.total), (None, json!(5)));
    assert_eq!(page(&owner, &third.previous.unwrap()).await.uris, second.uris);
    let by_number = page(&owner, &format!("{list}?status=invited&page_size=2&page=3")).await;
    assert_eq!(by_number.uris, invited[4..]);
    assert_refusal!(owner.get(&format!("{list}?status=invited&page_size=2&page=4")).await, @r#"400 {"page":["The list ends before page 4."]}"#);
}

#[tokio::test]
async fn a_list_can_be_narrowed_to_an_email() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let (list, _) = given(&owner, 2).await;
    let project = list.strip_suffix("candidates/").unwrap();
    let other = owner.project(json!({})).await;
    let email = json!({ "email": "Ada.B+jobs@Mail.example" });
    owner.candidate(&other, email.clone()).await;
    let mut found = Vec::new();
    for _ in 0..3 {
        found.push(owner.candidate(project, email.clone()).await);
    }
    owner.candidate(project, json!({ "email": "ada.b@mail.example" })).await;
    owner.candidate(project, json!({ "username": "ada.b+jobs@mail.example" })).await;
    owner.skip(&found[1]).await.expect(200);

    let of = |email: &str, more: &str| format!("{list}?email={}{more}", email.replace('+', "%2B"));
    for text in ["Ada.B+jobs@Mail.example", "ada.b+jobs@mail.example", "ADA.B+JOBS@MAIL.EXAMPLE"] {
        let all = page(&owner, &of(text, "")).await;
        assert_eq!((all.uris, all.total, all.next), (found.clone(), json!(3), None));
    }
    let own = "ada.b+jobs@mail.example";
    let new = page(&owner, &of(own, "&status=new")).await;
    assert_eq!((new.uris, new.total), (vec![found[0].clone(), found[2].clone()], json!(2)));
    let first = page(&owner, &of(own, "&page_size=2")).await;
    assert_eq!((first.uris.as_slice(), &first.total), (&found[..2], &json!(3)));
    let next = first.next.unwrap();
    assert!(next.contains("email=ada.b%2Bjobs%40mail.example"), "{next}");
    let second = page(&owner, &next).await;
    assert_eq!((second.uris.as_slice(), second.next), (&found[2..], None));
    assert_eq!(page(&owner, &second.previous.unwrap()).await.uris, found[..2]);
    assert_eq!(page(&owner, &of(own, "&page=2&page_size=2")).await.uris, found[2..]);
    assert_refusal!(owner.get(&of(own, "&page=3&page_size=2")).await, @r#"400 {"page":["The list ends before page 3."]}"#);
    for nobody in ["ada", "ada.b", "nobody@mail.example", &"x".repeat(3_000)] {
        assert_eq!(page(&owner, &of(nobody, "")).await.total, 0, "{nobody}");
    }
    assert_eq!(page(&owner, &of("", "")).await.total, 7, "no value is no filter");
}

#[tokio::test]
async fn any_page_can_be_requested_by_number_across_statuses() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({ "allow_hash_login": true })).await;
    let mut candidates = Vec::new();
    for number in 0..14 {
        let status = [CandidateStatus::New, CandidateStatus::Skipped, CandidateStatus::Confirmed][number % 3];
        candidates.push(owner.candidate_at(&project, status).await);
    }
    for size in [1, 3, 5, 14] {
        for (number, rows) in candidates.chunks(size).enumerate() {
            let target = format!("{project}candidates/?page_size={size}&page={}", number + 1);
            assert_eq!(page(&owner, &target).await.uris, rows, "{target}");
        }
    }
}

#[tokio::test]
async fn pages_that_cannot_be_are_refused() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let (list, _) = given(&owner, 3).await;
    let queries = [
        "page=0",
        "page=-1",
        "page=x",
        "page=",
        "page=1.0",
        "page=%2B2",
        "page=99999999999999999999",
        "page=18446744073709551615&page_size=100",
        "page=2",
        "page=4&page_size=1",
        "page_size=0",
        "page_size=101",
        "page_size=x",
        "cursor=x",
        "cursor=",
        // "aTALLY#0" and "bCANDIDATE#": cursors lead to identifiers only.
        "cursor=YVRBTExZIzA",
        "cursor=YkNBTkRJREFURSM",
    ];
    assert_refusals!(send_each(queries, async |query| owner.get(&format!("{list}?{query}")).await).await, @r#"
        7 x 400 {"page":["Use a whole number from 1 to 18446744073709551615."]}
        400 {"page":["The list ends before page 18446744073709551615."]}
        400 {"page":["The list ends before page 2."]}
        400 {"page":["The list ends before page 4."]}
        3 x 400 {"page_size":["Use a whole number from 1 to 100."]}
        4 x 400 {"cursor":["Invalid cursor. Follow `next` and `previous` unchanged."]}
        "#);
    for query in ["page=3&page_size=1", "page_size=100"] {
        owner.get(&format!("{list}?{query}")).await.expect(200);
    }
}

#[tokio::test]
async fn a_cursor_shows_nothing_that_its_list_does_not() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let (first, _) = given(&owner, 3).await;
    let (second, others) = given(&owner, 3).await;
    let next = page(&owner, &format!("{first}?page_size=1")).await.next.unwrap();
    let (_, query) = next.split_once('?').unwrap();
    // A place in another list is a place before or after all of this one's.
    assert_eq!(page(&owner, &format!("{second}?{query}")).await.uris, others[..1]);
    let nobody = app.staff("hiring-manager").await;
    nobody.get(&next).await.expect_code(404, "not_found");
}

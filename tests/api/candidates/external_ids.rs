//! The client's key of a candidate: unique in the project, found by it, hidden from candidates.

use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::{Caller, Staff, merge};
use tests::http::{Response, send_each};
use tests::{assert_refusal, assert_refusals};

use crate::candidates::import::{KEY, import};

fn named(external_id: &str) -> Value {
    json!({ "first_name": "Ada", "last_name": "Byron", "external_id": external_id })
}

/// The candidates of a list.
fn uris(list: &Response) -> Vec<String> {
    let list = list.json();
    let objects = list["objects"].as_array().unwrap();
    assert_eq!(list["meta"]["total_count"], objects.len(), "{list}");
    objects.iter().map(|candidate| candidate["resource_uri"].as_str().unwrap().to_owned()).collect()
}

async fn found(caller: &Staff, list: &str, query: &str) -> Vec<String> {
    uris(&caller.get(&format!("{list}?{query}")).await.expect(200))
}

/// Makes sure that a request was refused because `holder` has the key.
#[track_caller]
fn assert_taken_by(refused: &Response, holder: &str) {
    let body = json!({
        "detail": "This `external_id` is already in use. Use the resource at `resource_uri`, or send another `external_id`.",
        "code": "external_id_taken",
        "resource_uri": holder,
    });
    assert_eq!((refused.status.as_u16(), refused.json()), (409, body), "{refused}");
}

#[tokio::test]
async fn a_key_is_unique_in_the_project_and_the_refusal_names_who_has_it() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let [project, other] = [owner.project(json!({})).await, owner.project(json!({})).await];
    let candidates = format!("{project}candidates/");
    let ada = owner.candidate(&project, named("Zoë #7")).await;
    // Keys are compared as people see them: composed and trimmed. Case counts.
    let grace = owner.candidate(&project, named("zoë #7")).await;
    let before = app.table().snapshot().await;
    for same in ["Zoë #7", " Zoe\u{308} #7 ", "\u{feff}Zoë #7\u{200b}"] {
        assert_taken_by(&owner.post(&candidates, named(same)).await, &ada);
        assert_taken_by(&owner.patch(&grace, json!({ "external_id": same, "phone": "1" })).await, &ada);
    }
    assert_eq!(app.table().snapshot().await, before, "nothing is written");
    // The candidate's own key takes nothing from anyone.
    owner.patch(&ada, json!({ "external_id": "Zoë #7" })).await.expect(200);
    // Another project is another matter, and so is another company.
    owner.candidate(&other, named("Zoë #7")).await;
    let stranger = app.owner_of("globex").await;
    let foreign = stranger.project(json!({ "external_id": "Zoë #7" })).await;
    stranger.candidate(&foreign, named("Zoë #7")).await;

    // Wrong fields are reported first, before the key is looked up in the table.
    owner.candidate(&project, json!({ "username": "taken" })).await;
    let both = json!({ "first_name": "", "last_name": "B", "external_id": "Zoë #7" });
    assert_refusal!(owner.post(&candidates, both).await, @r#"400 {"first_name":["This field may not be blank."]}"#);
    let both = json!({ "username": "taken", "external_id": "Zoë #7" });
    assert_refusal!(owner.patch(&grace, both).await, @r#"400 {"username":["This username is already in use."]}"#);

    // Another key, none, and a deletion free the key at once.
    owner.patch(&ada, json!({ "external_id": "8" })).await.expect(200);
    owner.patch(&grace, json!({ "external_id": "Zoë #7" })).await.expect(200);
    assert_taken_by(&owner.post(&candidates, named("8")).await, &ada);
    owner.patch(&grace, json!({ "external_id": null })).await.expect(200);
    let third = owner.candidate(&project, named("Zoë #7")).await;
    owner.delete(&third).await.expect(204);
    owner.candidate(&project, named("Zoë #7")).await;
}

#[tokio::test]
async fn a_key_has_1_to_200_characters_that_can_be_seen() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let candidates = format!("{project}candidates/");
    for key in
        ["é".repeat(200), "a b\u{3000}c".to_owned(), "#".to_owned(), "../%00?&=".to_owned(), "求".repeat(200)]
    {
        let created = owner.post(&candidates, named(&key)).await.expect(201).json();
        assert_eq!(created["external_id"], *key);
    }
    let keys =
        ["é".repeat(201), "a\0b".to_owned(), "a\tb".to_owned(), "a\nb".to_owned(), "a\u{202e}b".to_owned()];
    let mut refusals = send_each(keys, async |key| owner.post(&candidates, named(&key)).await).await;
    let keys = ["a\u{200d}b", "a\u{ad}b", "a\u{fe0f}", "\u{301}", "\u{3164}"];
    refusals.extend(send_each(keys, |key| owner.post(&candidates, named(key))).await);
    assert_refusals!(refusals, @r#"
        400 {"external_id":["Ensure this field has no more than 200 characters."]}
        4 x 400 {"external_id":["Control characters are not allowed."]}
        3 x 400 {"external_id":["Invisible characters are not allowed."]}
        2 x 400 {"external_id":["This field may not be blank."]}
        "#);
    for none in [json!(null), json!(""), json!(" ")] {
        let mut body = named("x");
        body["external_id"] = none;
        let created = owner.post(&candidates, body).await.expect(201).json();
        assert_eq!(created["external_id"], "");
    }
}

#[tokio::test]
async fn staff_see_the_key_and_candidates_do_not() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let [manager, evaluator, reviewer, sharee] = [
        app.staff("recruiter").await,
        app.staff("hiring-manager").await,
        app.staff("hiring-manager").await,
        app.staff("hiring-manager").await,
    ];
    let project = owner
        .running_project(json!({
            "interview_managers": [manager.uri], "evaluators": [evaluator.uri], "reviewers": [reviewer.uri],
        }))
        .await;
    let invited = owner.invite(&project, json!({ "external_id": "Wiedehopf" })).await;
    let ada = invited.uri.clone();
    owner.post(&format!("{ada}shares/"), json!({ "customer": sharee.uri })).await.expect(201);
    for caller in [&owner, &manager, &evaluator, &reviewer, &sharee] {
        assert_eq!(caller.get(&ada).await.expect(200).json()["external_id"], "Wiedehopf");
    }
    let (_, token) = owner.named_token("ATS").await;
    assert_eq!(token.get(&ada).await.expect(200).json()["external_id"], "Wiedehopf");
    manager.patch(&ada, json!({ "external_id": "Eisvogel" })).await.expect(200);
    for caller in [&evaluator, &reviewer, &sharee] {
        caller.patch(&ada, json!({ "external_id": "1" })).await.expect_code(403, "permission_denied");
    }

    let own = invited.register().await;
    for target in [&ada, "/whoami/candidate/", &format!("{ada}data/")] {
        let shown = own.get(target).await.expect(200);
        let text = String::from_utf8(shown.body.clone()).unwrap();
        assert!(!text.contains("external_id") && !text.contains("Eisvogel"), "{shown}");
    }
    let changed = own.patch(&ada, json!({ "external_id": "mine", "phone": "1" })).await.expect(200).json();
    assert_eq!(changed.get("external_id"), None);
    let data = owner.get(&format!("{ada}data/")).await.expect(200).json();
    assert_eq!(data["external_id"], "Eisvogel");
    assert_eq!(owner.get(&ada).await.expect(200).json()["external_id"], "Eisvogel");
    // Search does not look at it.
    let none = owner.get("/companies/acme/search/?q=Eisvogel").await.expect(200).json();
    assert_eq!(none, json!([]));
}

#[tokio::test]
async fn a_candidate_is_found_by_the_key() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let manager = app.staff("recruiter").await;
    let [one, two] = [
        owner.project(json!({ "interview_managers": [owner.uri, manager.uri], "external_id": "4711" })).await,
        owner.running_project(json!({})).await,
    ];
    let [in_one, in_two] = [&one, &two].map(|project| format!("{project}candidates/"));
    let all = "/companies/acme/candidates/";
    let ada = owner.candidate(&one, json!({ "external_id": "4711", "email": "ada@mail.example" })).await;
    let again = owner.invite(&two, json!({ "external_id": "4711", "email": "ADA@mail.example" })).await.uri;
    let other = owner.candidate(&two, json!({ "external_id": "47 #1", "email": "ada@mail.example" })).await;
    let stranger = app.owner_of("globex").await;
    let foreign = stranger.project(json!({})).await;
    stranger.candidate(&foreign, json!({ "external_id": "4711" })).await;

    for caller in [&owner, &manager] {
        assert_eq!(found(caller, &in_one, "external_id=4711").await, [&*ada]);
    }
    assert_eq!(
        found(&owner, &in_two, "external_id=%2047%20%231").await,
        [&*other],
        "trimmed as when it was set"
    );
    assert_eq!(found(&owner, all, "external_id=4711").await, [&*ada, &again], "oldest first");
    // Compared exactly, and with the other filters.
    for (list, none) in [
        (&in_one, "external_id=47%20%231"),
        (&in_one, "external_id=471"),
        (&in_one, "external_id=4711&status=invited"),
        (&in_one, "external_id=4711&email=grace@mail.example"),
        (&all.to_owned(), "external_id=4711&email=grace@mail.example"),
        (&all.to_owned(), "external_id=0"),
    ] {
        assert_eq!(found(&owner, list, none).await, [""; 0], "{list}{none}");
    }
    assert_eq!(found(&owner, &in_two, "external_id=4711&status=invited").await, [&*again]);
    let both = "external_id=4711&email=ada@MAIL.example";
    assert_eq!(found(&owner, &in_one, both).await, [&*ada]);
    assert_eq!(found(&owner, all, both).await, [&*ada, &again]);
    assert_eq!(found(&owner, all, "external_id=47%20%231&email=ada@mail.example").await, [&*other]);
    let page = owner.get(&format!("{all}?external_id=4711&page_size=1")).await.expect(200).json();
    let next = owner.get(page["meta"]["next"].as_str().unwrap()).await.expect(200).json();
    assert_eq!(
        (&page["objects"][0]["resource_uri"], &next["objects"][0]["resource_uri"]),
        (&json!(ada), &json!(again))
    );

    // Another key, and a deletion, take effect at once.
    owner.patch(&ada, json!({ "external_id": "9" })).await.expect(200);
    owner.delete(&again).await.expect(204);
    assert_eq!(found(&owner, all, "external_id=4711").await, [""; 0]);
    assert_eq!(found(&owner, &in_two, "external_id=4711").await, [""; 0]);
    assert_eq!(found(&owner, all, "external_id=9").await, [&*ada]);

    let long = format!("external_id={}", "a".repeat(201));
    let mut refusals = Vec::new();
    for list in [&in_one, all] {
        for wrong in
            ["external_id=", "external_id=%20", "external_id=a%00b", "external_id=4711&page=2", &long]
        {
            refusals.push(owner.get(&format!("{list}?{wrong}")).await);
        }
    }
    refusals.push(owner.get(&format!("{all}?email=ada@mail.example&external_id=")).await);
    refusals.push(owner.get(all).await);
    assert_refusals!(refusals, @r#"
        5 x 400 {"external_id":["This field may not be blank."]}
        2 x 400 {"external_id":["Control characters are not allowed."]}
        2 x 400 {"page":["The list ends before page 2."]}
        2 x 400 {"external_id":["Ensure this field has no more than 200 characters."]}
        400 {"email":["This field is required."]}
        "#);
    // Others find those of their projects, which have none with this key.
    let found = manager.get(&format!("{all}?external_id=4711")).await.expect(200).json();
    assert_eq!(found["meta"]["total_count"], 0);
}

#[tokio::test]
async fn an_import_names_who_has_a_key() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let ada = owner.candidate(&project, named("1")).await;
    let mut broken = named("5");
    broken["last_name"] = json!("");
    let mut twice_broken = named("2");
    twice_broken["first_name"] = json!("");
    let list = json!([
        named("1"), named("2"), named(" 2"), named("1"), named("3"), broken, named("5"), twice_broken, named("2\t2"), {},
        { "first_name": "Ada", "last_name": "Byron" }, { "first_name": "Ada", "last_name": "Byron", "external_id": "" },
    ]);
    let report = import(&owner, &project, Some(KEY), &list).await.expect(200).json();
    let rows = report["objects"].as_array().unwrap();
    let taken = json!({ "external_id": ["This external_id is already in use."] });
    let new = ["new", "new"];
    let fates: Vec<&str> = rows.iter().map(|row| row["status"].as_str().unwrap()).collect();
    let mut expected =
        vec!["failed", "new", "failed", "failed", "new", "failed", "failed", "failed", "failed", "failed"];
    expected.extend(new);
    assert_eq!(fates, expected, "{report}");
    for (index, candidate) in
        [(0, json!(ada)), (2, rows[1]["candidate"].clone()), (3, json!(ada)), (6, json!(null))]
    {
        assert_eq!(
            (&rows[index]["errors"], &rows[index]["candidate"], &rows[index]["code"]),
            (&taken, &candidate, &json!("external_id_taken")),
            "{index}: {report}"
        );
        assert_eq!(rows[index]["interview_url"], "", "nobody is invited");
    }
    // With what else is wrong with it.
    let blank =
        json!({ "external_id": taken["external_id"], "first_name": ["This field may not be blank."] });
    assert_eq!((&rows[7]["errors"], &rows[7]["candidate"]), (&blank, &rows[1]["candidate"]));
    assert_eq!(rows[8]["errors"], json!({ "external_id": ["Control characters are not allowed."] }));
    let codes = [7, 8, 5].map(|index| &rows[index]["code"]);
    assert_eq!(codes, ["external_id_taken", "invalid", "invalid"]);
    assert_eq!(report["meta"], json!({ "total": 12, "created": 4, "invited": 0, "failed": 8, "pending": 0 }));
    assert_eq!(
        found(&owner, &format!("{project}candidates/"), "external_id=2").await,
        [rows[1]["candidate"].as_str().unwrap()]
    );
    // The same request again is the same import; without its key, everything is taken.
    let replayed = import(&owner, &project, Some(KEY), &list).await.expect(200);
    assert_eq!(replayed.json(), report);
    let list = json!([named("2"), named("3")]);
    let again = import(&owner, &project, None, &list).await.expect(200).json();
    for (row, first) in again["objects"].as_array().unwrap().iter().zip([1, 4]) {
        assert_eq!((&row["errors"], &row["candidate"]), (&taken, &rows[first]["candidate"]));
    }
}

#[tokio::test]
async fn a_row_whose_key_is_taken_has_the_link_to_the_interview_of_the_candidate_who_has_it() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({ "allow_hash_login": true })).await;
    let invited = owner.invite(&project, json!({ "external_id": "1" })).await.uri;
    let skipped = owner.invite(&project, json!({ "external_id": "2" })).await.uri;
    owner.patch(&format!("{skipped}status/skip/"), json!({})).await.expect(200);
    let mut twice = named("3");
    merge(&mut twice, json!({ "email": app.next_email(), "deadline": app.clock().in_days(3) }));
    let list = json!([named("1"), named("2"), twice, twice]);
    let dry = owner
        .post(&format!("{project}candidates/import/?dry_run=true"), list.clone())
        .await
        .expect(200)
        .json();
    let report = import(&owner, &project, None, &list).await.expect(200).json();
    let created = report["objects"][2]["candidate"].as_str().unwrap().to_owned();
    for (index, holder) in [(0, &invited), (1, &skipped), (3, &created)] {
        let link = owner.get(holder).await.expect(200).json()["interview_url"].clone();
        assert_eq!(link != "", *holder != skipped, "{holder}");
        let expected = (json!("external_id_taken"), json!(holder), link.clone());
        for report in [&dry, &report] {
            let row = &report["objects"][index];
            if index == 3 && *report == dry {
                assert_eq!((&row["candidate"], &row["interview_url"]), (&Value::Null, &json!("")));
                continue;
            }
            let said = (row["code"].clone(), row["candidate"].clone(), row["interview_url"].clone());
            assert_eq!(said, expected, "{index}");
        }
    }
}

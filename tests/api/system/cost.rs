//! The calls and units of DynamoDB that requests take, by their log lines.

use serde_json::{Value, json};
use tests::app::TestApp;
use tests::caller::Caller;
use tests::http::{Request, Response};
use tests::logs::take_lines;
use tests::takes::{Interviewee, signed_part};
use tests::videos::film;

#[track_caller]
fn assert_calls(response: &Response, calls: u32) {
    let log = response.log();
    assert_eq!(log.dynamodb_calls, calls, "{response}{log:?}");
    assert_eq!(log.status, response.status.as_u16());
}

#[tokio::test]
async fn a_read_of_one_resource_is_one_round_trip() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let candidate = owner.candidate(&project, json!({})).await;
    let status = format!("{project}status/");
    for target in ["/companies/acme/", "/whoami/", &project, &status, &candidate] {
        let response = owner.get(target).await.expect(200);
        assert_calls(&response, 1);
        assert_eq!(response.log().write_units, 0.0);
        assert!(response.log().read_units > 0.0);
    }
    // And what is not there costs the same.
    assert_calls(&owner.get("/companies/globex/").await.expect(404), 1);
}

#[tokio::test]
async fn the_retention_is_read_in_one_round_trip_and_who_is_due_in_one_more_for_each_project() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let [project, _, _] =
        [owner.project(json!({})).await, owner.project(json!({})).await, owner.project(json!({})).await];
    let [of_company, of_project] = ["/companies/acme/retention/".to_owned(), format!("{project}retention/")];
    for uri in [&of_company, &of_project] {
        assert_calls(&owner.get(uri).await.expect(200), 1);
        assert_calls(&owner.send(Request::put(uri).json(&json!({ "days": 180 }))).await.expect(200), 2);
        assert_calls(&owner.get(uri).await.expect(200), 1);
    }
    let due = format!("{of_company}due/");
    // Admission, the projects, and the old candidates of each.
    assert_calls(&owner.get(&due).await.expect(200), 5);
    assert_calls(&owner.get(&format!("{due}?project={project}")).await.expect(200), 3);
    // Candidates of open projects are kept, so nobody reads them.
    assert_calls(&owner.get(&format!("{due}?days=7&from=project_closed")).await.expect(200), 2);
    for uri in [&of_project, &of_company] {
        assert_calls(&owner.delete(uri).await.expect(204), 2);
    }
    assert_calls(&owner.get(&due).await.expect(200), 2);
}

#[tokio::test]
async fn a_change_is_two_round_trips() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let [evaluator, reviewer] = [app.staff("hiring-manager").await, app.staff("hiring-manager").await];
    let name = json!({ "name": "Sales" });
    let project = owner.post("/companies/acme/projects/", name).await.expect(201);
    assert_calls(&project, 2);
    let project = project.uri("resource_uri");
    let people = json!({ "evaluators": [evaluator.uri], "reviewers": [reviewer.uri], "name": "Staff" });
    assert_calls(&owner.patch(&project, people).await.expect(200), 2);
    assert_calls(&owner.set_status(&project, "40-running").await.expect(200), 2);
    assert_calls(&owner.set_status(&project, "60-closed").await.expect(200), 2);

    let profile = json!({ "first_name": "Ada", "last_name": "Byron", "username": "ada", "email": "a@b.co" });
    let candidate = owner.post(&format!("{project}candidates/"), profile).await.expect(201);
    assert_calls(&candidate, 2);
    let candidate = candidate.uri("resource_uri");
    let profile = json!({ "last_name": "King", "username": "countess", "email": "ada@king.example" });
    let changed = owner.patch(&candidate, profile).await.expect(200);
    assert_calls(&changed, 2);
    assert!(changed.log().write_units > 0.0);
    assert_calls(&owner.delete(&candidate).await.expect(204), 2);

    let token = owner.new_token().await;
    assert_calls(&token.send(Request::post("/api-token-invalidate/")).await.expect(204), 2);
}

#[tokio::test]
async fn guest_links_cost_a_call_only_where_there_are_any() {
    let app = TestApp::start().await;
    let person = Interviewee::asked(&app, json!({ "kind": "text" })).await;
    let Interviewee { owner, candidate, answer } = &person;
    candidate.send(Request::put(answer).json(&json!({ "text": "Because." }))).await.expect(201);
    candidate.advance(&candidate.uri).await.expect(200);
    let links = format!("{}guest-links/", candidate.uri);
    assert_calls(&owner.get(&links).await.expect(200), 1);
    let created = owner.post(&links, json!({ "recipient": "Head of sales" })).await.expect(201);
    assert_calls(&created, 2);
    assert_calls(&owner.get(&links).await.expect(200), 2);
    let link = created.uri("resource_uri");
    assert_calls(&owner.get(&link).await.expect(200), 1);
    assert_calls(&owner.delete(&link).await.expect(204), 2);
    assert_calls(&owner.get(&links).await.expect(200), 1);
}

#[tokio::test]
async fn a_key_costs_one_item_where_it_is_used_and_no_call() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let units = |response: &Response| response.log().write_units;
    let project = async |fields: Value| owner.post("/companies/acme/projects/", fields).await;
    let plain = project(json!({ "name": "Sales" })).await.expect(201);
    let keyed = project(json!({ "name": "Sales", "external_id": "REQ" })).await.expect(201);
    let candidates = format!("{}candidates/", plain.uri("resource_uri"));
    let candidate = async |external_id: Value| {
        let body = json!({ "first_name": "Ada", "last_name": "Byron", "external_id": external_id });
        owner.post(&candidates, body).await
    };
    let [without, with] =
        [candidate(json!(null)).await.expect(201), candidate(json!("4711")).await.expect(201)];
    for (plain, keyed) in [(&plain, &keyed), (&without, &with)] {
        assert_calls(plain, 2);
        assert_calls(keyed, 2);
        // A transaction takes two units for each item.
        assert_eq!(units(keyed) - units(plain), 2.0);
    }
    let [without, with] = [without, with].map(|created| created.uri("resource_uri"));
    let [plain, keyed] = [
        owner.patch(&without, json!({ "phone": "1" })).await,
        owner.patch(&with, json!({ "phone": "1" })).await,
    ];
    assert_eq!(units(&plain), units(&keyed));
    // The refusal has the holder from the write that failed.
    assert_calls(&candidate(json!("4711")).await.expect(409), 2);
    assert_calls(&owner.patch(&without, json!({ "external_id": "4711" })).await.expect(409), 2);
    for list in [candidates.as_str(), "/companies/acme/candidates/"] {
        assert_calls(&owner.get(&format!("{list}?external_id=4711")).await.expect(200), 3);
    }
    assert_calls(&owner.get("/companies/acme/projects/?external_id=REQ").await.expect(200), 3);
}

#[tokio::test]
async fn a_change_without_effect_writes_nothing() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let candidate = owner.candidate(&project, json!({})).await;
    assert_calls(&owner.patch(&project, json!({})).await.expect(200), 1);
    assert_calls(&owner.patch(&candidate, json!({ "first_name": "Ada" })).await.expect(200), 1);
    assert_calls(&owner.set_status(&project, "10-incomplete").await.expect(200), 1);
    assert_calls(&owner.patch(&candidate, json!({ "first_name": "" })).await.expect(400), 1);
}

#[tokio::test]
async fn a_request_without_a_credential_costs_nothing() {
    let app = TestApp::start().await;
    let project = app.owner().await.project(json!({})).await;
    assert_calls(&app.anonymous().get(&project).await.expect(401), 0);
    assert_calls(&app.token("ivt_x").get(&project).await.expect(401), 0);
    assert_calls(&app.anonymous().get("/nowhere/").await.expect(404), 0);
    assert_calls(&app.anonymous().post("/api-token-auth/", json!({})).await.expect(400), 0);
}

#[tokio::test]
async fn the_current_legal_texts_cost_little_however_many_versions_there_are() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let languages = ["en", "de", "fr", "es", "it", "nl"];
    for _ in 0..20 {
        let texts: Value =
            languages.map(|language| (language.to_owned(), json!("x".repeat(10_000)))).into_iter().collect();
        let body = json!({ "kind": "consent", "texts": texts });
        owner.post("/companies/acme/legal/", body).await.expect(201);
    }
    let list = "/companies/acme/legal/?page_size=100";
    let current = app.anonymous().get(list).await.expect(200);
    assert_calls(&current, 2);
    // The company, and one text of 60 KB, both eventually consistent.
    assert!(current.log().read_units <= 8.5, "{:?}", current.log());
    let one = app.anonymous().get("/companies/acme/legal/consent-7/").await.expect(200);
    assert_calls(&one, 1);
    assert!(one.log().read_units <= 8.0, "{:?}", one.log());
    let all = owner.get(list).await.expect(200);
    assert_calls(&all, 2);
    assert!(all.log().read_units <= 160.0, "{:?}", all.log());
}

#[tokio::test]
async fn a_list_of_candidates_is_admitted_and_then_read() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    for _ in 0..5 {
        owner.candidate(&project, json!({})).await;
    }
    let (admission, page) = (chaos.pause("BatchGetItem"), chaos.pause("Query"));
    let list = format!("{project}candidates/?page_size=2");
    let one_after_the_other = async {
        admission.reached().await;
        admission.resume();
        page.reached().await;
        page.resume();
    };
    let (response, ()) = tokio::join!(owner.get(&list), one_after_the_other);
    let response = response.expect(200);
    assert_calls(&response, 2);
    // A deeper page costs what the first one does.
    let mut next = response.json()["meta"]["next"].clone();
    while let Some(target) = next.as_str() {
        let page = owner.get(target).await.expect(200);
        assert_calls(&page, 2);
        assert!(page.log().read_units <= response.log().read_units, "{:?}", page.log());
        next = page.json()["meta"]["next"].clone();
    }
    assert_eq!(next, Value::Null);
    // By its number it must first be found; of one status, first the names are read and then the rows.
    assert_calls(&owner.get(&format!("{project}candidates/?page=2&page_size=2")).await.expect(200), 3);
    assert_calls(&owner.get(&format!("{project}candidates/?status=new")).await.expect(200), 3);
}

#[tokio::test]
async fn the_data_of_a_candidate_are_admitted_and_then_read_at_once() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({ "allow_hash_login": true })).await;
    let invited = owner.invite(&project, json!({})).await;
    let data = format!("{}data/", invited.uri);
    let admission = chaos.pause("BatchGetItem");
    let reads = ["-interview", "HISTORY", "WEBHOOK"].map(|text| chaos.pause_about("Query", text));
    let items = ["INTERVIEW", "RETENTION", "ANSWERS"].map(|text| chaos.pause_about("BatchGetItem", text));
    let two_round_trips = async {
        admission.reached().await;
        admission.resume();
        // None of them waits for another.
        for read in reads.iter().chain(&items) {
            read.reached().await;
        }
        for read in reads.iter().chain(&items) {
            read.resume();
        }
    };
    let (response, ()) = tokio::join!(owner.get(&data), two_round_trips);
    assert_calls(&response.expect(200), 7);
    assert_calls(&invited.get(&data).await.expect(200), 3);
}

#[tokio::test]
async fn a_list_is_not_read_for_refused_callers() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let list = format!("{project}candidates/");
    assert_calls(&app.owner_of("globex").await.get(&list).await.expect(404), 1);
    assert_calls(&app.anonymous().get(&list).await.expect(401), 0);
    assert_calls(&owner.get(&format!("{list}?page=0")).await.expect(400), 1);
    assert_calls(&owner.get(&format!("{list}?page=9")).await.expect(400), 1);
}

#[tokio::test]
async fn a_list_of_projects_costs_the_same_however_long_it_is() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let person = app.staff("hiring-manager").await;
    let list = "/companies/acme/projects/";
    for (count, calls_of_owner, calls_of_person) in [(1, 4, 3), (12, 4, 3)] {
        for _ in 0..count {
            owner.project(json!({ "evaluators": [person.uri] })).await;
        }
        assert_calls(&owner.get(list).await.expect(200), calls_of_owner);
        assert_calls(&person.get(list).await.expect(200), calls_of_person);
    }
}

#[tokio::test]
async fn a_search_costs_the_same_however_many_there_are() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let evaluator = app.staff("hiring-manager").await;
    let nobody = app.staff("hiring-manager").await;
    let own = owner.project(json!({ "evaluators": [evaluator.uri] })).await;
    owner.candidate(&own, json!({ "email": "ada@mail.example" })).await;
    let deadline = "2027-01-01T00:00:00Z".parse().unwrap();
    for count in [60, 600] {
        app.fill(&owner.project(json!({})).await, count, deadline).await;
        for (caller, text, calls) in [
            (&owner, "a", 4),
            (&owner, "byron", 4),
            (&owner, "ada%20byron", 5),
            (&owner, "nobody", 3),
            // The roles are read first, then what is in those projects.
            (&evaluator, "ada", 5),
            (&evaluator, "ada%20love", 6),
            (&nobody, "ada", 2),
            (&owner, "", 1),
        ] {
            let target = format!("/companies/acme/search/?q={text}");
            let response = caller.get(&target).await.expect(200);
            assert_calls(&response, calls);
            assert!(response.log().read_units < 120.0, "{text}: {:?}", response.log());
        }
    }
    assert_calls(&owner.get("/companies/acme/search/").await.expect(400), 1);
    assert_calls(&app.owner_of("globex").await.get("/companies/acme/search/?q=ada").await.expect(404), 1);
}

#[tokio::test]
async fn candidates_with_an_email_are_found_by_one_query() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    for _ in 0..5 {
        owner.candidate(&project, json!({ "email": "ada@mail.example" })).await;
    }
    let list = format!("{project}candidates/?email=ada@mail.example");
    assert_calls(&owner.get(&list).await.expect(200), 3);
    assert_calls(&owner.get(&format!("{list}&page=2&page_size=2")).await.expect(200), 3);
    assert_calls(&owner.get(&format!("{project}candidates/?email=nobody@b.co")).await.expect(200), 2);
}

#[tokio::test]
async fn rows_before_a_page_are_skipped_by_their_keys() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    app.fill(&project, 1_000, "2027-01-01T00:00:00Z".parse().unwrap()).await;
    owner.candidate(&project, json!({})).await;
    let first = owner.get(&format!("{project}candidates/?page_size=1")).await.expect(200);
    let deep = owner.get(&format!("{project}candidates/?page_size=1&page=1001")).await.expect(200);
    // The caller, the keys of two statuses, the page.
    assert_calls(&deep, 4);
    // A thousand keys, at half the price since the index lags: a row read whole takes a quarter unit each.
    assert!(deep.log().read_units < first.log().read_units + 40.0, "{:?}", deep.log());
}

#[tokio::test]
async fn a_filter_of_the_feed_looks_at_many_events_at_once() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    for number in 0..520 {
        owner.label(&format!("label {number}")).await;
    }
    app.settle().await;
    // The caller with the sequence; of the index and of the table one event, and five times up to a hundred.
    for place in ["after=0", "before=latest"] {
        let few = format!("/companies/acme/events/?type=candidate.created&page_size=1&{place}");
        assert_calls(&owner.get(&few).await.expect(200), 13);
        let one = format!("/companies/acme/events/?page_size=1&{place}");
        let one = owner.get(&one).await.expect(200);
        assert_calls(&one, 3);
        assert!(one.log().read_units < 8.0, "{:?}", one.log());
    }
}

#[tokio::test]
async fn a_page_of_a_history_costs_the_same_however_long_it_is() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let project = owner.project(json!({})).await;
    let ada = owner.candidate(&project, json!({})).await;
    let list = format!("{ada}events/?page_size=10");
    let mut units = Vec::new();
    for count in [30, 300] {
        for phone in 0..count {
            owner.patch(&ada, json!({ "phone": phone.to_string() })).await.expect(200);
        }
        let mut pages = Vec::new();
        let mut target = list.clone();
        for number in 1..=3 {
            let page = owner.get(&target).await.expect(200);
            assert_eq!(
                owner.get(&format!("{list}&page={number}")).await.expect(200).json()["objects"],
                page.json()["objects"]
            );
            target = page.json()["meta"]["next"].as_str().unwrap().to_owned();
            pages.push(page);
        }
        let previous = pages[2].json()["meta"]["previous"].as_str().unwrap().to_owned();
        pages.push(owner.get(&previous).await.expect(200));
        assert_eq!(pages[1].json()["objects"], pages[3].json()["objects"]);
        for page in &pages {
            assert!(page.log().dynamodb_calls <= 3, "{:?}", page.log());
        }
        units.push(pages.iter().map(|page| page.log().read_units).collect::<Vec<_>>());
    }
    assert_eq!(units[0], units[1]);
    let last = owner.get(&format!("{list}&page=34")).await.expect(200).json();
    assert_eq!((&last["meta"]["total_count"], last["objects"].as_array().unwrap().len()), (&json!(331), 1));
}

#[tokio::test]
async fn an_answer_is_read_and_its_parts_are_signed_in_one_round_trip_and_it_is_written_in_two() {
    let (app, [_dynamodb, s3]) = TestApp::start_with_storage_chaos().await;
    let person = Interviewee::asked(&app, json!({ "takes": 1 })).await;
    app.settle().await;
    let [takes, take] = ["takes/", "takes/1/"].map(|path| format!("{}{path}", person.answer));
    let interview = format!("{}interview/", person.candidate.uri);
    assert_calls(&person.candidate.get(&interview).await.expect(200), 1);
    assert_calls(&person.candidate.post(&takes, json!({})).await.expect(201), 2);
    let signed = person.candidate.post(&format!("{take}parts/"), signed_part(1, &film())).await.expect(200);
    assert_calls(&signed, 1);
    assert_eq!(signed.log().write_units, 0.0);
    person.send(1, 1, &film()).await;
    let listed = s3.requests("LIST");
    assert_calls(&person.candidate.patch(&take, json!({ "parts": 1 })).await.expect(200), 2);
    assert_eq!(s3.requests("LIST"), listed + 1);
    for target in [&interview, &person.answer] {
        assert_calls(&person.owner.get(target).await.expect(200), 1);
    }

    app.events().deliver_stream().await.unwrap();
    take_lines("conversion");
    app.events().deliver_objects().await.unwrap();
    let converted = take_lines("conversion").pop().unwrap();
    // The conversion's turn takes two queries and a write. Read and leased, read before the renditions are stored, and read and
    // written at the end. Then it is taken out of the queue, which is empty and goes as well.
    assert_eq!(converted["dynamodb_calls"], 3 + 5 + 5, "{converted}");
    app.settle().await;

    let writer = Interviewee::asked(&app, json!({ "kind": "text" })).await;
    let text = Request::put(&writer.answer).json(&json!({ "text": "Because." }));
    assert_calls(&writer.candidate.send(text).await.expect(201), 2);
    for draft in ["Because", "Because of"] {
        let draft = Request::put(&format!("{}draft/", writer.answer)).json(&json!({ "text": draft }));
        assert_calls(&writer.candidate.send(draft).await.expect(204), 2);
    }
    assert_calls(&writer.candidate.get(&format!("{}interview/", writer.candidate.uri)).await.expect(200), 2);
}

//! `?expand=`: what projects and shares refer to, in place of the references.

use serde_json::{Value, json};
use tests::app::TestApp;
use tests::assert_refusal;
use tests::caller::{Caller, Staff};

const PROJECTS: &str = "/companies/acme/projects/";
const PEOPLE: [&str; 3] = ["evaluators", "interview_managers", "reviewers"];

struct ExpandFixture {
    app: TestApp,
    owner: Staff,
    /// Evaluates in all projects.
    evaluator: Staff,
    labels: [String; 2],
    projects: Vec<String>,
}

/// Three projects with people and labels, some of them in more than one.
async fn given() -> ExpandFixture {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let [evaluator, reviewer] = [app.staff("hiring-manager").await, app.staff("hiring-manager").await];
    let labels = [owner.label("North").await, owner.label("South").await];
    let mut projects = Vec::new();
    for number in 0..3 {
        let reviewers = if number == 1 { json!([]) } else { json!([reviewer.uri]) };
        let fields = json!({
            "evaluators": [evaluator.uri], "reviewers": reviewers, "labels": labels[..number],
        });
        projects.push(owner.project(fields).await);
    }
    ExpandFixture { app, owner, evaluator, labels, projects }
}

/// The answer to GET of each reference in a list.
async fn read_all(caller: &Staff, references: &Value) -> Value {
    let mut found = Vec::new();
    for reference in references.as_array().unwrap() {
        found.push(caller.get(reference.as_str().unwrap()).await.expect(200).json());
    }
    found.into()
}

#[tokio::test]
async fn people_labels_and_roles_come_as_their_own_addresses_show_them() {
    let given = given().await;
    for caller in [&given.owner, &given.evaluator] {
        for uri in &given.projects {
            let plain = caller.get(uri).await.expect(200).json();
            let mut expected = plain.clone();
            for name in PEOPLE.into_iter().chain(["labels"]) {
                expected[name] = read_all(caller, &plain[name]).await;
            }
            let roles = caller.get(plain["roles"].as_str().unwrap()).await.expect(200).json();
            expected["roles"] = roles["objects"].clone();
            let all = format!("{uri}?expand=evaluators,interview_managers,reviewers,labels,roles");
            caller.get(&all).await.expect_json(200, expected.clone());
            // One at a time, and the others stay what they are.
            for name in PEOPLE.into_iter().chain(["labels", "roles"]) {
                let mut one = plain.clone();
                one[name] = expected[name].clone();
                caller.get(&format!("{uri}?expand={name}")).await.expect_json(200, one);
            }
        }
    }
    let text = |number: usize| {
        let (owner, uri) = (&given.owner, &given.projects[number]);
        async move { owner.get(&format!("{uri}?expand=labels")).await.expect(200).json()["labels"].clone() }
    };
    assert_eq!((text(0).await, &text(1).await[0]["text"]), (json!([]), &json!("North")));
}

#[tokio::test]
async fn lists_show_what_single_projects_show_and_their_links_keep_asking_for_it() {
    let given = given().await;
    let of_customer = format!("{}projects/", given.evaluator.uri);
    for (caller, list) in
        [(&given.owner, PROJECTS), (&given.evaluator, PROJECTS), (&given.owner, of_customer.as_str())]
    {
        let mut next = Some(format!("{list}?page_size=2&expand=evaluators,labels,roles"));
        let mut seen = 0;
        while let Some(target) = next {
            let page = caller.get(&target).await.expect(200).json();
            for shown in page["objects"].as_array().unwrap() {
                let uri = shown["resource_uri"].as_str().unwrap();
                let alone =
                    caller.get(&format!("{uri}?expand=evaluators,labels,roles")).await.expect(200).json();
                for name in PEOPLE.into_iter().chain(["labels", "roles"]) {
                    assert_eq!(shown[name], alone[name], "{name}");
                }
                assert!(shown["evaluators"][0].is_object() && shown["interview_managers"][0].is_string());
                seen += 1;
            }
            next = page["meta"]["next"].as_str().map(str::to_owned);
        }
        assert_eq!(seen, 3);
    }
}

#[tokio::test]
async fn a_whole_page_is_one_more_round_trip() {
    let given = given().await;
    let calls = async |target: &str| given.owner.get(target).await.expect(200).log().dynamodb_calls;
    let all = "expand=evaluators,interview_managers,reviewers,labels";
    assert_eq!(calls(PROJECTS).await + 1, calls(&format!("{PROJECTS}?{all}")).await);
    let uri = &given.projects[2];
    assert_eq!((calls(uri).await, calls(&format!("{uri}?{all}")).await), (1, 2));
    assert_eq!(calls(&format!("{uri}?expand=roles")).await, 1, "the project holds them");
    assert_eq!(calls(&format!("{}?expand=labels", given.projects[0])).await, 1, "there are none");
}

#[tokio::test]
async fn dangling_references_stay_and_unknown_names_are_refused() {
    let given = given().await;
    let uri = &given.projects[2];
    let plain = given.owner.get(uri).await.expect(200).json();
    given.owner.get(&format!("{uri}?expand=videos")).await.expect_json(200, plain.clone());
    given.owner.get(&format!("{uri}?expand=")).await.expect_json(200, plain);
    for unknown in ["candidates", "company", "evaluators,results", "Evaluators", "labels%00", "*"] {
        for target in [uri, PROJECTS, &format!("{}projects/", given.evaluator.uri)] {
            let refused = given.owner.get(&format!("{target}?expand={unknown}")).await;
            assert_refusal!(refused, @r#"400 {"expand":["Choose from evaluators, interview_managers, reviewers, labels, roles, videos, questions, criteria."]}"#);
        }
    }
    // A label goes from its projects first.
    given.owner.delete(&given.labels[0]).await.expect(204);
    let labels = given.owner.get(&format!("{uri}?expand=labels")).await.expect(200).json()["labels"].clone();
    assert_eq!(labels, json!([given.owner.get(&given.labels[1]).await.expect(200).json()]));
}

#[tokio::test]
async fn shares_expand_to_customers_and_own_shares_to_candidates() {
    let given = given().await;
    let (owner, sharee) = (&given.owner, given.app.staff("hiring-manager").await);
    let mut shared = Vec::new();
    for project in &given.projects {
        let candidate = owner.candidate(project, json!({ "email": "ada@mail.example" })).await;
        for customer in [&sharee, &given.evaluator] {
            let body = json!({ "customer": customer.uri });
            owner.post(&format!("{candidate}shares/"), body).await.expect(201);
        }
        shared.push(candidate);
    }
    let shares = format!("{}shares/", shared[0]);
    let with_people = owner.get(&format!("{shares}?expand=customer")).await.expect(200);
    assert_eq!(with_people.log().dynamodb_calls, 2);
    let mut expected = owner.get(&shares).await.expect(200).json();
    for share in expected["objects"].as_array_mut().unwrap() {
        share["customer"] = owner.get(share["customer"].as_str().unwrap()).await.expect(200).json();
    }
    assert_eq!(with_people.json(), expected);
    assert_refusal!(owner.get(&format!("{shares}?expand=candidate")).await, @r#"400 {"expand":["Choose from customer."]}"#);

    // Each as the caller sees it: without keys and shares, with an evaluation of one's own or without.
    let mine = "/companies/acme/shares/";
    for caller in [&sharee, &given.evaluator] {
        let with_candidates = caller.get(&format!("{mine}?expand=candidate")).await.expect(200);
        assert_eq!(with_candidates.log().dynamodb_calls, 3);
        let mut expected = caller.get(mine).await.expect(200).json();
        for (share, candidate) in expected["objects"].as_array_mut().unwrap().iter_mut().zip(&shared) {
            assert_eq!(share["candidate"], *candidate);
            share["candidate"] = caller.get(candidate).await.expect(200).json();
            assert_eq!(share["candidate"].get("activation_key"), None);
        }
        assert_eq!(with_candidates.json(), expected);
    }
    assert_refusal!(sharee.get(&format!("{mine}?expand=customer")).await, @r#"400 {"expand":["Choose from candidate."]}"#);
    owner.get(&format!("{mine}?expand=candidate")).await.expect(200);
}

#[tokio::test]
async fn a_page_that_is_too_large_for_one_answer_has_fewer_projects_and_continues() {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    // All texts are as long as they may be, in quotation marks, which take the most room.
    let text = |length: usize| "\"".repeat(length);
    let mut people = Vec::new();
    for _ in 0..39 {
        let long = json!({ "first_name": text(150), "last_name": text(150), "position": text(150) });
        people.push(owner.colleague("hiring-manager", long).await.uri);
    }
    let mut projects = Vec::new();
    for _ in 0..25 {
        let fields = json!({ "evaluators": people, "interview_managers": people, "name": text(150) });
        projects.push(owner.project(fields).await);
    }
    let everything = "page_size=100&expand=evaluators,interview_managers,reviewers,labels,roles";
    let (mut shown, mut pages, mut last) = (Vec::new(), 0, String::new());
    let mut next = Some(format!("{PROJECTS}?{everything}"));
    while let Some(target) = next {
        let page = owner.get(&target).await.expect(200).json();
        assert_eq!(page["meta"]["total_count"], 25);
        let uris = page["objects"].as_array().unwrap().iter().map(|one| one["resource_uri"].clone());
        shown.extend(uris);
        pages += 1;
        next = page["meta"]["next"].as_str().map(str::to_owned);
        last = target;
    }
    assert_eq!(json!(shown), json!(projects), "each once, in order, on {pages} pages");
    assert!(pages > 1, "{pages}");
    // And back, as far from the first as from the last.
    let mut shown = Vec::new();
    let mut previous = Some(last);
    while let Some(target) = previous {
        let page = owner.get(&target).await.expect(200).json();
        let uris = page["objects"].as_array().unwrap().iter().rev().map(|one| one["resource_uri"].clone());
        shown.extend(uris);
        previous = page["meta"]["previous"].as_str().map(str::to_owned);
    }
    shown.reverse();
    assert_eq!(json!(shown), json!(projects));
    // Without what makes them large, all fit.
    let plain = owner.get(&format!("{PROJECTS}?page_size=100")).await.expect(200).json();
    assert_eq!((plain["objects"].as_array().map(Vec::len), &plain["meta"]["next"]), (Some(25), &Value::Null));
}

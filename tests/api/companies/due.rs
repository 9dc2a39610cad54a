//! The list of candidates who are due, by which a company tries its retention.

use std::collections::BTreeSet;

use chrono::TimeDelta;
use serde_json::{Value, json};
use shared::domain::candidate::CandidateProfile;
use shared::domain::text::ShortName;
use tests::app::TestApp;
use tests::assert_refusals;
use tests::caller::{Caller, Token, last_segment};
use tests::effort;
use tests::http::send_each;

use super::retention::{RETENTION, set_retention, start};

const DUE: &str = "/companies/acme/retention/due/";

/// All candidates of the list, by its links.
async fn list(caller: &impl Caller, query: &str) -> (Vec<Value>, u64) {
    let (mut rows, mut looked_at) = (Vec::new(), 0);
    let mut next = Some(format!("{DUE}?{query}"));
    while let Some(target) = next {
        let page = caller.get(&target).await.expect(200).json();
        rows.extend(page["objects"].as_array().unwrap().iter().cloned());
        looked_at += page["meta"]["looked_at"].as_u64().unwrap();
        next = page["meta"]["next"].as_str().map(str::to_owned);
        assert_eq!(page["meta"]["more"], next.is_some());
    }
    (rows, looked_at)
}

async fn due(caller: &impl Caller, query: &str) -> Vec<String> {
    let (rows, _) = list(caller, query).await;
    rows.iter().map(|row| row["candidate"].as_str().unwrap().to_owned()).collect()
}

fn row(candidate: &str, due_at: &str, reason: &str) -> Value {
    let project = candidate.split_inclusive("/candidates/").next().unwrap();
    let project = project.strip_suffix("candidates/").unwrap();
    json!({ "candidate": candidate, "project": project, "due_at": due_at, "reason": reason, "is_held": false })
}

/// Two projects with a candidate each, and ten days later one more in the first.
async fn candidates(app: &TestApp, privacy: &Token) -> [String; 3] {
    let owner = app.owner().await;
    let [one, other] = [owner.project(json!({})).await, owner.project(json!({})).await];
    let [first, second] = [new_candidate(privacy, &one).await, new_candidate(privacy, &other).await];
    app.clock().advance(TimeDelta::days(10));
    [first, new_candidate(privacy, &one).await, second]
}

async fn new_candidate(caller: &impl Caller, project: &str) -> String {
    let ada = json!({ "first_name": "Ada", "last_name": "Byron" });
    caller.post(&format!("{project}candidates/"), ada).await.expect(201).uri("resource_uri")
}

#[tokio::test]
async fn candidates_are_due_once_their_days_are_over_and_the_policy_has_started() {
    let (app, privacy) = start().await;
    let [first, third, second] = candidates(&app, &privacy).await;
    let created = ["2026-11-08T10:00:00Z", "2026-11-18T10:00:00Z"];
    assert_eq!(due(&privacy, "until=2099-01-01T00:00:00Z").await, Vec::<String>::new(), "{created:?}");
    // On 18 November, so it starts on the 25th.
    set_retention(&privacy, RETENTION, json!({ "days": 14 })).await;
    for (until, expected) in [
        ("2026-11-25T09:59:59Z", vec![]),
        // Candidates of the 8th would have been due on the 22nd.
        (
            "2026-11-25T10:00:00Z",
            vec![
                row(&first, "2026-11-25T10:00:00Z", "last_activity"),
                row(&second, "2026-11-25T10:00:00Z", "last_activity"),
            ],
        ),
        (
            "2026-12-02T09:59:59Z",
            vec![
                row(&first, "2026-11-25T10:00:00Z", "last_activity"),
                row(&second, "2026-11-25T10:00:00Z", "last_activity"),
            ],
        ),
        (
            "2026-12-02T10:00:00Z",
            vec![
                row(&first, "2026-11-25T10:00:00Z", "last_activity"),
                row(&third, "2026-12-02T10:00:00Z", "last_activity"),
                row(&second, "2026-11-25T10:00:00Z", "last_activity"),
            ],
        ),
    ] {
        let (rows, _) = list(&privacy, &format!("until={until}")).await;
        assert_eq!(rows, expected, "{until}");
    }
    assert_eq!(due(&privacy, "").await, Vec::<String>::new(), "by default now");
    app.clock().advance(TimeDelta::days(14));
    assert_eq!(due(&privacy, "").await, [&first, &third, &second].map(String::as_str));
    let project = first.split_inclusive("/candidates/").next().unwrap().replace("candidates/", "");
    assert_eq!(due(&privacy, &format!("project={project}")).await, [first, third]);
}

#[tokio::test]
async fn another_policy_is_tried_in_the_place_of_all() {
    let (app, privacy) = start().await;
    let [first, _, second] = candidates(&app, &privacy).await;
    let own = format!("{}retention/", first.split("candidates/").next().unwrap());
    set_retention(&privacy, &own, json!({ "days": null })).await;
    let (rows, _) = list(&privacy, "days=10").await;
    let since = "2026-11-18T10:00:00Z";
    assert_eq!(rows, [row(&first, since, "last_activity"), row(&second, since, "last_activity")]);
    assert_eq!(due(&privacy, "days=11").await, Vec::<String>::new());
    assert_eq!(due(&privacy, "days=7&from=project_closed").await, Vec::<String>::new());
    // Nothing has changed by it.
    assert_eq!(privacy.get(&own).await.expect(200).json()["days"], Value::Null);
    assert_eq!(due(&privacy, "until=2099-01-01T00:00:00Z").await, Vec::<String>::new());
}

#[tokio::test]
async fn candidates_of_a_project_wait_for_its_close_and_again_once_it_is_reopened() {
    let (app, privacy) = start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let candidate = owner.candidate(&project, json!({})).await;
    set_retention(&privacy, RETENTION, json!({ "days": 7, "from": "project_closed" })).await;
    let move_to = async |status: &str| {
        privacy.patch(&format!("{project}status/"), json!({ "status": status })).await.expect(200);
    };
    let later = "until=2027-06-01T00:00:00Z";
    assert_eq!(due(&privacy, later).await, Vec::<String>::new());
    app.clock().advance(TimeDelta::days(20));
    move_to("60-closed").await;
    assert_eq!(list(&privacy, later).await.0, [row(&candidate, "2026-12-05T10:00:00Z", "project_closed")]);
    app.clock().advance(TimeDelta::days(5));
    move_to("40-running").await;
    assert_eq!(due(&privacy, later).await, Vec::<String>::new());
    app.clock().advance(TimeDelta::days(60));
    assert_eq!(due(&privacy, "").await, Vec::<String>::new());
    move_to("60-closed").await;
    assert_eq!(list(&privacy, later).await.0, [row(&candidate, "2027-02-08T10:00:00Z", "project_closed")]);
}

#[tokio::test]
async fn a_deadline_counts_only_while_the_candidate_may_still_act() {
    let (app, privacy) = start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({ "allow_hash_login": true })).await;
    set_retention(&privacy, RETENTION, json!({ "days": 7 })).await;
    let deadline = json!({ "deadline": app.clock().in_days(100) });
    let [aborted, expired, interviewing] = [
        owner.invite(&project, deadline.clone()).await,
        owner.invite(&project, deadline.clone()).await,
        owner.invite(&project, deadline).await,
    ];
    for candidate in [&aborted, &interviewing] {
        candidate.advance(&candidate.uri).await.expect(200);
        candidate.advance(&candidate.uri).await.expect(200);
    }
    app.clock().advance(TimeDelta::days(1));
    app.abort(&aborted.uri).await;
    let owner = owner.new_token().await;
    // Once they have expired, a new deadline alone lets them do nothing.
    owner.set_deadline(&expired.uri, &app.clock().in_days(0)).await.expect(200);
    assert_eq!(app.expire_overdue().await.expired, 1);
    owner.set_deadline(&expired.uri, &app.clock().in_days(200)).await.expect(200);
    let since = "2026-11-16T10:00:00Z";
    let (rows, _) = list(&privacy, "until=2027-01-01T00:00:00Z").await;
    assert_eq!(rows, [row(&aborted.uri, since, "last_activity"), row(&expired.uri, since, "last_activity")]);
    assert_eq!(due(&privacy, "until=2027-02-23T09:59:59Z").await.len(), 2);
    assert_eq!(due(&privacy, "until=2027-02-23T10:00:00Z").await.len(), 3);
}

#[tokio::test]
async fn candidates_on_hold_are_marked_until_the_hold_ends() {
    let (app, privacy) = start().await;
    let [first, ..] = candidates(&app, &privacy).await;
    let hold = json!({ "reason": "A lawsuit", "until": "2027-01-01T00:00:00Z" });
    set_retention(&privacy, &format!("{first}hold/"), hold).await;
    let held = async |until: &str| {
        let (rows, _) = list(&privacy, &format!("days=10&until={until}")).await;
        rows[0]["is_held"].clone()
    };
    assert_eq!(held("2026-12-31T23:59:59Z").await, true);
    assert_eq!(held("2027-01-01T00:00:00Z").await, false);
}

#[tokio::test]
async fn a_run_erases_whom_the_list_names_and_nobody_else() {
    let (app, privacy) = start().await;
    let owner = app.owner().await;
    let mut projects = Vec::new();
    for status in ["40-running", "60-closed", "60-closed"] {
        projects.push((owner.project(json!({})).await, status));
    }
    set_retention(&privacy, RETENTION, json!({ "days": 20 })).await;
    for (project, days, from) in
        [(&projects[1].0, 9, "project_closed"), (&projects[2].0, 40, "last_activity")]
    {
        set_retention(&privacy, &format!("{project}retention/"), json!({ "days": days, "from": from })).await;
    }
    let mut all = Vec::new();
    for _ in 0..10 {
        for (project, _) in &projects {
            all.push(new_candidate(&privacy, project).await);
        }
        app.clock().advance(TimeDelta::hours(100));
    }
    for (project, status) in &projects {
        privacy.patch(&format!("{project}status/"), json!({ "status": status })).await.expect(200);
    }
    set_retention(&privacy, &format!("{}hold/", all[0]), json!({ "reason": "A lawsuit" })).await;
    let mut erased = Vec::new();
    for _ in 0..4 {
        app.clock().advance(TimeDelta::days(3));
        let (rows, _) = list(&privacy, "page_size=3").await;
        let due: Vec<&Value> =
            rows.iter().filter(|row| row["is_held"] == false).map(|row| &row["candidate"]).collect();
        app.erase_due().await;
        let mut gone = Vec::new();
        for uri in &all {
            if privacy.get(uri).await.status == 404 && !erased.contains(uri) {
                gone.push(uri.clone());
            }
        }
        // Candidates were created in turn in the projects, and are listed by project.
        let listed: BTreeSet<&str> = due.iter().map(|uri| uri.as_str().unwrap()).collect();
        assert_eq!(gone.iter().map(String::as_str).collect::<BTreeSet<_>>(), listed);
        assert!(!gone.is_empty() && !gone.contains(&all[0]));
        erased.extend(gone);
    }
    assert!(erased.len() < all.len() - 1, "{}", erased.len());
}

#[tokio::test]
async fn parameters_that_make_no_sense_are_refused() {
    let (app, privacy) = start().await;
    let project = app.owner().await.project(json!({})).await;
    let foreign = app.owner_of("globex").await.project(json!({})).await;
    let id = last_segment(&project);
    let queries = [
        "days=6",
        "days=3651",
        "days=x",
        "from=project_closed",
        "days=10&from=hire",
        "until=2026-11-08",
        "project=x",
        &format!("project={foreign}"),
        "page_size=0",
        "page_size=101",
        "after=x",
        &format!("after={id}"),
        &format!("project={project}&after={}.{}", last_segment(&foreign), last_segment(&foreign)),
    ];
    let refusals = send_each(queries, async |query| privacy.get(&format!("{DUE}?{query}")).await).await;
    assert_refusals!(refusals, @r#"
        3 x 400 {"days":["Use a whole number from 7 to 3650."]}
        400 {"days":["Send `days` together with `from`."]}
        400 {"from":["\"hire\" is not a valid choice. Use one of: last_activity, project_closed."]}
        400 {"until":["Use ISO 8601 with a time zone, for example 2026-11-08T22:59:00Z."]}
        400 {"project":["\"x\" is not a URL under https://hr.example/api/v3/companies/acme/projects/."]}
        400 {"project":["\"https://hr.example/api/v3/companies/globex/projects/[id]/\" is not a URL under https://hr.example/api/v3/companies/acme/projects/."]}
        2 x 400 {"page_size":["Use a whole number from 1 to 100."]}
        3 x 400 {"after":["Invalid place. Follow `next` unchanged."]}
        "#);
}

#[tokio::test]
async fn a_list_shows_nothing_of_another_company() {
    let (app, privacy) = start().await;
    let stranger = app.owner_of("globex").await;
    let theirs = stranger.project(json!({})).await;
    stranger.candidate(&theirs, json!({})).await;
    stranger.get(DUE).await.expect_code(404, "not_found");
    app.clock().advance(TimeDelta::days(10));
    assert_eq!(list(&privacy, "days=7").await, (Vec::new(), 0));
    let place = format!("after={}.{}", last_segment(&theirs), last_segment(&theirs));
    assert_eq!(list(&privacy, &format!("days=7&{place}")).await, (Vec::new(), 0));
}

#[tokio::test]
async fn pages_of_any_size_show_everybody_once_and_a_request_looks_at_5000_candidates() {
    let (app, privacy) = start().await;
    let owner = app.owner().await;
    let project = owner.running_project(json!({})).await;
    let deadline = "2026-11-10T00:00:00Z".parse().unwrap();
    // A candidate who has one name twice takes the fewest entries of the search to write.
    let twice = ShortName::parse("Ada").unwrap();
    let profile = CandidateProfile::new(twice.clone(), twice);
    app.fill_with(&project, deadline, std::iter::repeat_n(profile, 5_050)).await;
    let other = owner.candidate(&owner.project(json!({})).await, json!({})).await;
    app.clock().advance(TimeDelta::days(30));
    // In the first project, nobody is due for another week, but requests look at all of them.
    set_retention(&privacy, &format!("{project}retention/"), json!({ "days": 29 })).await;
    set_retention(&privacy, RETENTION, json!({ "days": 7 })).await;
    let first = privacy.get(&format!("{DUE}?until=2026-12-08T23:00:00Z")).await.expect(200).json();
    assert_eq!((&first["objects"], &first["meta"]["looked_at"]), (&json!([]), &json!(5_000)));

    let (rows, looked_at) = list(&privacy, "until=2026-12-15T10:00:00Z&page_size=100").await;
    let shown: Vec<&str> = rows.iter().map(|row| row["candidate"].as_str().unwrap()).collect();
    let (last, of_first) = shown.split_last().unwrap();
    assert_eq!((of_first.len(), *last, looked_at), (5_050, other.as_str(), 5_051));
    assert!(of_first.iter().all(|uri| uri.starts_with(&project)) && of_first.is_sorted());
    assert_eq!(of_first.iter().collect::<BTreeSet<_>>().len(), 5_050);
}

/// The rules whose policies a hundred changes set in turn, milder and stricter, from one start and the other.
fn nth_policy(number: u32) -> Value {
    let from = if number.is_multiple_of(3) { "project_closed" } else { "last_activity" };
    match number % 11 {
        10 => json!({ "days": null }),
        _ => json!({ "days": 7 + number * 37 % 60, "from": from }),
    }
}

#[tokio::test]
async fn nobody_becomes_due_within_a_week_by_a_change_of_the_policy() {
    let (app, privacy) = start().await;
    let owner = app.owner().await;
    let [open, closed] = [owner.running_project(json!({})).await, owner.running_project(json!({})).await];
    for _ in 0..12 {
        for project in [&open, &closed] {
            new_candidate(&privacy, project).await;
        }
        app.clock().advance(TimeDelta::days(5));
    }
    privacy.patch(&format!("{closed}status/"), json!({ "status": "60-closed" })).await.expect(200);
    let mut seen = BTreeSet::new();
    for number in effort::cases(0..100_u32) {
        app.clock().advance(TimeDelta::hours(i64::from(number * 13 % 60)));
        // A second before a policy of this moment may start.
        app.clock().advance(TimeDelta::seconds(-1));
        let within_a_week = format!("page_size=100&until={}", app.clock().in_days(7));
        app.clock().advance(TimeDelta::seconds(1));
        let before: BTreeSet<String> = due(&privacy, &within_a_week).await.into_iter().collect();
        let own = [&open, &closed][usize::from(number % 2 == 0)];
        let own = format!("{own}retention/");
        match number % 5 {
            1 => set_retention(&privacy, &own, nth_policy(number * 7)).await,
            2 => {
                privacy.delete(&own).await.expect(204);
                Value::Null
            }
            _ if number % 17 == 0 => {
                privacy.delete(RETENTION).await.expect(204);
                Value::Null
            }
            _ => set_retention(&privacy, RETENTION, nth_policy(number)).await,
        };
        let after: BTreeSet<String> = due(&privacy, &within_a_week).await.into_iter().collect();
        assert!(after.is_subset(&before), "change {number}: {:?}", after.difference(&before));
        seen.insert(after.len());
    }
    assert!(seen.len() > effort::bound(3, 1), "the changes must matter: {seen:?}");
}

//! Named tokens that are limited to projects: they see and touch these, and nothing else of the company.

use serde_json::json;
use tests::app::TestApp;
use tests::caller::{Caller, PASSWORD, Staff, Token};
use tests::files::{Form, photo};
use tests::http::Request;
use tests::{assert_refusal, assert_refusals};

const CUSTOMERS: &str = "/companies/acme/customers/";

/// Two projects, each with a hiring manager of its own, and a token for the first one.
struct LimitedToken {
    app: TestApp,
    owner: Staff,
    token: Token,
    own: String,
    manager: Staff,
    other: String,
    stranger: Staff,
}

impl LimitedToken {
    async fn start(account_type: &str) -> Self {
        let app = TestApp::start().await;
        let owner = app.owner().await;
        let [manager, stranger] = [app.staff("hiring-manager").await, app.staff("hiring-manager").await];
        let own = owner.running_project(json!({ "interview_managers": [manager.uri] })).await;
        let other = owner.running_project(json!({ "interview_managers": [stranger.uri] })).await;
        let rights = json!({ "account_type": account_type, "projects": [own] });
        let (_, token) = owner.named_token_with(rights).await;
        token.get("/whoami/").await.expect(200);
        app.app().finish_background().await;
        Self { app, owner, token, own, manager, other, stranger }
    }
}

#[tokio::test]
async fn it_takes_over_nobody_and_manages_nothing_of_the_company_whatever_its_account_type() {
    for account_type in ["recruiter", "hiring-manager"] {
        let given = LimitedToken::start(account_type).await;
        let LimitedToken { app, owner, token, own, manager, stranger, .. } = &given;
        let label = owner.label("Senior").await;
        let video =
            json!({ "name": "Welcome", "upload_filename": "a.mp4", "content_type": "video/mp4", "size": 10 });
        let new_video = owner.post("/companies/acme/videos/", video.clone()).await.expect(201);
        let shown_video = new_video.uri("resource_uri");
        let person = json!({
            "first_name": "Eve", "last_name": "Eavesdropper", "email": "eve@mail.example",
            "account_type": "hiring-manager", "preferred_language": "en",
        });
        app.settle().await;
        let before = app.table().snapshot().await;
        let address = json!({ "email": "eve@mail.example" });
        let managed = json!({ "name": "Mine", "interview_managers": [manager.uri] });
        let refused = [
            ("manage_customers", Request::patch(&manager.uri).json(&address)),
            ("manage_customers", Request::patch(&manager.uri).json(&json!({ "phone": "1" }))),
            ("manage_customers", Request::delete(&manager.uri)),
            ("manage_customers", Request::delete(&stranger.uri)),
            ("manage_customers", Request::post(CUSTOMERS).json(&person)),
            ("manage_customers", Request::post(&format!("{}uploads/", manager.uri)).json(&json!({}))),
            ("reinvite_customers", Request::patch(&format!("{}reinvite/", manager.uri))),
            ("import_customers", Request::post(&format!("{CUSTOMERS}batch-import/")).json(&json!([person]))),
            ("manage_labels", Request::post("/companies/acme/labels/").json(&json!({ "text": "x" }))),
            ("manage_labels", Request::patch(&label).json(&json!({ "text": "x" }))),
            ("manage_labels", Request::delete(&label)),
            ("manage_videos", Request::post("/companies/acme/videos/").json(&video)),
            ("manage_videos", Request::patch(&shown_video).json(&json!({ "name": "x" }))),
            ("manage_videos", Request::delete(&shown_video)),
            ("change_company", Request::patch("/companies/acme/").json(&json!({ "phone": "1" }))),
            ("create_project", Request::post("/companies/acme/projects/").json(&managed)),
            ("manage_privacy", Request::delete("/companies/acme/retention/")),
            ("manage_privacy", Request::delete(&format!("{own}retention/"))),
            ("manage_tokens", Request::post("/companies/acme/tokens/").json(&json!({ "name": "More" }))),
            ("export_company", Request::post("/companies/acme/exports/").json(&json!({}))),
        ];
        for (permission, request) in refused {
            let call = format!("{request:?}");
            let refused = token.send(request).await.expect_code(403, "permission_denied").json();
            assert_eq!(refused["permission"], permission, "{call}");
        }
        // People whom its projects do not name do not exist for the token.
        token.patch(&stranger.uri, address).await.expect_code(404, "not_found");
        assert_eq!(app.table().snapshot().await, before);
        token.get(&label).await.expect(200);
        token.get(&shown_video).await.expect(200);
        app.anonymous().log_in("acme", &stranger.username, PASSWORD).await.expect(200);
        assert_eq!(stranger.get("/whoami/").await.expect(200).json()["resource"]["email"], stranger.email);
        app.anonymous().log_in("acme", "eve@mail.example", PASSWORD).await.expect(401);
    }
}

#[tokio::test]
async fn it_sees_the_staff_of_its_projects_and_no_other_person() {
    let given = LimitedToken::start("recruiter").await;
    let LimitedToken { app, owner, token, own, manager, stranger, .. } = &given;
    let [evaluator, reviewer] = [app.staff("admin").await, app.staff("recruiter").await];
    owner.patch(own, json!({ "evaluators": [evaluator.uri], "reviewers": [reviewer.uri] })).await.expect(200);
    let mut staff: Vec<&Staff> = vec![owner, manager, &evaluator, &reviewer];
    staff.sort_by_key(|one| one.id().to_owned());
    let listed = async |query: &str| {
        let list = token.get(&format!("{CUSTOMERS}{query}")).await.expect(200).json();
        let objects = list["objects"].as_array().unwrap().clone();
        assert_eq!(list["meta"]["total_count"], objects.len());
        objects.into_iter().map(|one| one["resource_uri"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    // The creator of a project becomes its manager.
    assert_eq!(listed("").await, staff.iter().map(|one| one.uri.clone()).collect::<Vec<_>>());
    assert_eq!(listed("?account_type=hiring-manager").await, [manager.uri.as_str()]);
    assert_eq!(listed("?status=invited").await, Vec::<String>::new());
    assert_eq!(listed(&format!("?username={}", manager.username)).await, [manager.uri.as_str()]);
    assert_eq!(listed(&format!("?username={}", stranger.username)).await, Vec::<String>::new());
    for one in &staff {
        assert_eq!(
            token.get(&one.uri).await.expect(200).json(),
            owner.get(&one.uri).await.expect(200).json()
        );
    }
    let unknown = stranger.uri.replace(stranger.id(), "01ARZ3NDEKTSV4RRFFQ69G5FAV");
    assert_refusals!(
        [
            token.get(&stranger.uri).await,
            token.get(&unknown).await,
            token.get(&format!("{}projects/", stranger.uri)).await,
            token.get(&format!("{unknown}projects/")).await,
        ],
        @r#"4 x 404 {"code":"not_found","detail":"Not found."}"#
    );
    let of_owner = token.get(&format!("{}projects/", owner.uri)).await.expect(200).json();
    assert_eq!(of_owner["meta"]["total_count"], 1, "{of_owner}");
    // References to others stay references.
    let candidate = owner.candidate(own, json!({})).await;
    let shares = format!("{candidate}shares/");
    for one in [manager, stranger] {
        owner.post(&shares, json!({ "customer": one.uri })).await.expect(201);
    }
    let shown = token.get(&format!("{shares}?expand=customer")).await.expect(200).json();
    assert_eq!(shown["objects"][0]["customer"]["resource_uri"], manager.uri);
    assert_eq!(shown["objects"][1]["customer"], stranger.uri);
    // It names nobody whom it does not see, and cannot find out whether they exist.
    for one in [&stranger.uri, &unknown] {
        let missing =
            format!("Customer {} does not exist or is inactive.", one.split('/').rev().nth(1).unwrap());
        for (field, request) in [
            ("evaluators", Request::patch(own).json(&json!({ "evaluators": [evaluator.uri, one] }))),
            ("interview_managers", Request::patch(own).json(&json!({ "interview_managers": [one] }))),
            (
                "customer",
                Request::post(&format!("{own}roles/")).json(&json!({ "customer": one, "role": "reviewer" })),
            ),
            ("customer", Request::post(&shares).json(&json!({ "customer": one }))),
        ] {
            token.send(request).await.expect_json(400, json!({ field: [missing] }));
        }
    }
    token
        .post(&format!("{own}roles/"), json!({ "customer": manager.uri, "role": "evaluator" }))
        .await
        .expect(201);
    token.patch(own, json!({ "reviewers": [] })).await.expect(200);
    // The URL of a photo ends with the role of the person.
    let form = Form::new().file("photo", "p.png", "image/png", &photo(image::ImageFormat::Png, 4, 4));
    owner.send(Request::patch(&manager.uri).form(form)).await.expect(200);
    let address = token.get(&manager.uri).await.expect(200).uri("photo");
    token.send(Request::get(&address)).await.expect(302);
    owner.patch(own, json!({ "interview_managers": [owner.uri], "evaluators": [] })).await.expect(200);
    app.send(Request::get(&address)).await.expect(404);
    token.get(&manager.uri).await.expect_code(404, "not_found");
}

#[tokio::test]
async fn it_finds_candidates_of_its_projects_alone() {
    let given = LimitedToken::start("hiring-manager").await;
    let LimitedToken { owner, token, own, other, .. } = &given;
    let named = json!({ "first_name": "Zoë", "email": "zoe@mail.example", "external_id": "Z-1" });
    let [seen, _] = [owner.candidate(own, named.clone()).await, owner.candidate(other, named).await];
    let of_company = "/companies/acme/candidates/";
    for query in ["email=zoe@mail.example", "external_id=Z-1", "email=zoe@mail.example&external_id=Z-1"] {
        let list = token.get(&format!("{of_company}?{query}")).await.expect(200).json();
        assert_eq!((&list["meta"]["total_count"], list["objects"].as_array().unwrap().len()), (&json!(1), 1));
        assert_eq!(list["objects"][0]["resource_uri"], seen, "{query}");
    }
    let found = token.get("/companies/acme/search/?q=zoe").await.expect(200).json();
    assert_eq!((found.as_array().unwrap().len(), &found[0]["resource_uri"]), (1, &json!(seen)));
    token.get(&format!("{own}results/")).await.expect(200);
    token.get(&format!("{other}results/")).await.expect_code(404, "not_found");
}

#[tokio::test]
async fn whoami_tells_what_it_may_do_in_each_of_its_projects() {
    let given = LimitedToken::start("recruiter").await;
    let LimitedToken { owner, own, other, .. } = &given;
    let (_, both) =
        owner.named_token_with(json!({ "account_type": "recruiter", "projects": [other, own] })).await;
    let rights = both.get("/whoami/").await.expect(200).json()["rights"].clone();
    let permissions = json!([
        "read_events",
        "read_webhooks",
        "manage_webhooks",
        "read_project",
        "read_questions",
        "read_agreement",
        "change_project",
        "read_candidate",
        "read_history",
        "export_candidate",
        "request_erasure",
        "change_candidate",
        "advance_candidate",
    ]);
    let projects = [own, other].map(|project| json!({ "project": project, "permissions": permissions }));
    assert_eq!(rights["in_projects"], json!(projects));
}

#[tokio::test]
async fn a_refusal_names_the_permission_and_tells_tokens_which_ones_have_it() {
    let given = LimitedToken::start("recruiter").await;
    let LimitedToken { app, owner, token, own, other, .. } = &given;
    let company_wide = owner.named_token_with(json!({ "account_type": "recruiter" })).await.1;
    let admin = owner.named_token_with(json!({ "account_type": "admin" })).await.1;
    let candidate = owner.candidate(own, json!({})).await;
    let person = app.staff("recruiter").await;
    assert_refusals!([
        token.post("/companies/acme/labels/", json!({ "text": "x" })).await,
        token.patch("/companies/acme/", json!({ "phone": "1" })).await,
        token.post("/companies/acme/tokens/", json!({ "name": "x" })).await,
        token.send(Request::put(&format!("{candidate}evaluations/{}/", owner.id())).json(&json!({}))).await,
        company_wide.get("/companies/acme/events/").await,
        company_wide.get("/companies/acme/webhooks/").await,
        admin.post(&format!("{candidate}vetos/"), json!({ "comment": "x" })).await,
        person.get("/companies/acme/events/").await,
        person.delete(&owner.uri).await,
    ], @r#"
403 {
  "code":"permission_denied",
  "detail":"You do not have the permission `manage_labels` here. Named tokens without `projects` have it as `recruiter`, `admin` or `owner`.",
  "permission":"manage_labels"
}
403 {
  "code":"permission_denied",
  "detail":"You do not have the permission `change_company` here. Named tokens without `projects` have it as `admin` or `owner`.",
  "permission":"change_company"
}
403 {
  "code":"permission_denied",
  "detail":"You do not have the permission `manage_tokens` here. No named token has it, because a token could give itself more rights: send the token of a login of an owner.",
  "permission":"manage_tokens"
}
403 {
  "code":"permission_denied",
  "detail":"You do not have the permission `evaluate` here. Named tokens without `projects` have it as `admin` or `owner`.",
  "permission":"evaluate"
}
403 {
  "code":"permission_denied",
  "detail":"You do not have the permission `read_events` here. Named tokens have it as `admin` or `owner`, or in their `projects`.",
  "permission":"read_events"
}
403 {
  "code":"permission_denied",
  "detail":"You do not have the permission `read_webhooks` here. Named tokens have it as `admin` or `owner`, or in their `projects`.",
  "permission":"read_webhooks"
}
403 {
  "code":"permission_denied",
  "detail":"You do not have the permission `cast_veto` here. No named token has it.",
  "permission":"cast_veto"
}
403 {
  "code":"permission_denied",
  "detail":"You do not have the permission `read_events` here.",
  "permission":"read_events"
}
403 {
  "code":"permission_denied",
  "detail":"You do not have the permission `manage_customers` here.",
  "permission":"manage_customers"
}
"#);
    assert_refusal!(token.get(other).await, @r#"404 {"code":"not_found","detail":"Not found."}"#);
}

//! Reads and creates candidates, as a team would write it with lambda_http and the AWS SDK.

use std::collections::HashMap;
use std::env;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::types::{AttributeValue, KeysAndAttributes, Put, TransactWriteItem, Update};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use chrono::{DateTime, Utc};
use lambda_http::{Body, Error, Request, Response, run, service_fn};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use ulid::Ulid;
use validator::Validate;

type Item = HashMap<String, AttributeValue>;

/// Made before the first request, so that warm requests share its connections.
struct Service {
    dynamodb: Client,
    table: String,
    base_url: String,
}

#[derive(Deserialize)]
struct Session {
    kind: String,
    expires_at: i64,
    epoch: u32,
    claim: Claim,
}

#[derive(Deserialize)]
struct Claim {
    account: Account,
}

#[derive(Deserialize)]
struct Account {
    customer: Option<String>,
}

#[derive(Deserialize)]
struct User {
    id: String,
    company: String,
    account_type: String,
    is_active: bool,
    session_epoch: u32,
}

#[derive(Deserialize)]
struct Project {
    staff: Staff,
}

#[derive(Deserialize)]
struct Staff {
    evaluators: Vec<String>,
    interview_managers: Vec<String>,
    reviewers: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct Candidate {
    id: String,
    company: String,
    project: String,
    status: String,
    profile: Profile,
    created_by: Option<String>,
    invited_at: Option<DateTime<Utc>>,
    confirmed_at: Option<DateTime<Utc>>,
    interviewed_at: Option<DateTime<Utc>>,
    session_epoch: u32,
    version: u64,
}

#[derive(Serialize, Deserialize, Validate)]
struct Profile {
    #[validate(length(min = 1, max = 100))]
    first_name: String,
    #[validate(length(min = 1, max = 100))]
    last_name: String,
    #[validate(email, length(max = 254))]
    email: Option<String>,
    deadline: Option<DateTime<Utc>>,
    #[serde(default)]
    #[validate(length(max = 50))]
    phone: String,
    #[serde(default)]
    #[validate(length(max = 20))]
    gender: String,
    #[serde(default)]
    #[validate(length(max = 500))]
    address: String,
}

#[derive(Serialize)]
struct CandidateView<'a> {
    company: String,
    project: String,
    resource_uri: String,
    first_name: &'a str,
    last_name: &'a str,
    email: &'a str,
    status: &'a str,
    invitationdate: Option<DateTime<Utc>>,
    confirmationdate: Option<DateTime<Utc>>,
    interviewdate: Option<DateTime<Utc>>,
    deadline: Option<DateTime<Utc>>,
    phone: &'a str,
    gender: &'a str,
    address: &'a str,
    created_by: Option<String>,
}

/// A request that is not answered as the client wishes: with a status and a body, or with 500.
enum Failure {
    Refused(u16, Value),
    Failed(Error),
}

impl<E: Into<Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

fn refused(status: u16, detail: &str) -> Failure {
    Failure::Refused(status, json!({ "detail": detail }))
}

/// The items that a request needs, of which the project and the candidate may be missing.
struct Loaded {
    user: User,
    project: Option<Project>,
    candidate: Option<Candidate>,
}

impl Service {
    async fn answer(&self, request: Request) -> Result<Response<Body>, Error> {
        let outcome = match route(request.uri().path()) {
            Some((company, project, Some(id))) if request.method() == "GET" => {
                self.read(&request, company, project, id).await
            }
            Some((company, project, None)) if request.method() == "POST" => {
                self.create(&request, company, project).await
            }
            _ => Err(refused(404, "Not found.")),
        };
        let (status, body) = match outcome {
            Ok(answer) => answer,
            Err(Failure::Refused(status, body)) => (status, body.to_string()),
            Err(Failure::Failed(error)) => return Err(error),
        };
        Ok(Response::builder().status(status).header("content-type", "application/json").body(body.into())?)
    }

    async fn read(
        &self,
        request: &Request,
        company: &str,
        project: &str,
        id: &str,
    ) -> Result<(u16, String), Failure> {
        let loaded = self.admit(request, company, project, Some(id)).await?;
        authorise(&loaded, company, |staff| {
            vec![&staff.evaluators, &staff.interview_managers, &staff.reviewers]
        })?;
        let candidate = loaded.candidate.ok_or_else(|| refused(404, "Not found."))?;
        Ok((200, serde_json::to_string(&self.show(&candidate))?))
    }

    async fn create(
        &self,
        request: &Request,
        company: &str,
        project: &str,
    ) -> Result<(u16, String), Failure> {
        let loaded = self.admit(request, company, project, None).await?;
        authorise(&loaded, company, |staff| vec![&staff.interview_managers])?;
        let profile: Profile =
            serde_json::from_slice(request.body()).map_err(|error| refused(400, &error.to_string()))?;
        profile.validate().map_err(|errors| Failure::Refused(400, json!(errors)))?;
        let candidate = Candidate {
            id: Ulid::generate().to_string(),
            company: company.to_owned(),
            project: project.to_owned(),
            status: "new".to_owned(),
            profile,
            created_by: Some(loaded.user.id),
            invited_at: None,
            confirmed_at: None,
            interviewed_at: None,
            session_epoch: 0,
            version: 1,
        };
        let partition = format!("COMPANY#{company}#PROJECT#{project}");
        let mut item: Item = serde_dynamo::to_item(&candidate)?;
        item.extend(key(&partition, &format!("CANDIDATE#{}", candidate.id)));
        item.insert("by_status_pk".to_owned(), AttributeValue::S(format!("{partition}#CANDIDATES#new")));
        item.insert("by_status_sk".to_owned(), AttributeValue::S(candidate.id.clone()));
        let put = Put::builder().table_name(&self.table).set_item(Some(item));
        let put = put.condition_expression("attribute_not_exists(pk)").build()?;
        let count = Update::builder()
            .table_name(&self.table)
            .set_key(Some(key(&partition, &format!("TALLY#{}", Ulid::generate().random() % 4))))
            .update_expression("ADD #count :one")
            .condition_expression("attribute_exists(pk)")
            .expression_attribute_names("#count", "status:new")
            .expression_attribute_values(":one", AttributeValue::N("1".to_owned()))
            .build()?;
        self.dynamodb
            .transact_write_items()
            .transact_items(TransactWriteItem::builder().put(put).build())
            .transact_items(TransactWriteItem::builder().update(count).build())
            .send()
            .await?;
        Ok((201, serde_json::to_string(&self.show(&candidate))?))
    }

    /// Loads session, user, project and, if given, candidate in one call, and returns them if the session is valid.
    async fn admit(
        &self,
        request: &Request,
        company: &str,
        project: &str,
        candidate: Option<&str>,
    ) -> Result<Loaded, Failure> {
        let invalid = || refused(401, "The token is invalid.");
        let header = request.headers().get("authorization").and_then(|value| value.to_str().ok());
        let token = header.and_then(|header| header.strip_prefix("Token ")).ok_or_else(invalid)?;
        let claim = token.strip_prefix("ivt_").and_then(|claim| URL_SAFE_NO_PAD.decode(claim).ok());
        let claim = claim.filter(|claim| claim.len() >= 41 && claim[0] == 1).ok_or_else(invalid)?;
        let user = Ulid::from_bytes(claim[1..17].try_into()?);
        let session = format!("SESSION#{}", URL_SAFE_NO_PAD.encode(Sha256::digest(token)));
        let partition = format!("COMPANY#{company}#PROJECT#{project}");
        let keys = [
            Some(key(&session, &session)),
            Some(key(
                &format!("COMPANY#{}", String::from_utf8_lossy(&claim[41..])),
                &format!("CUSTOMER#{user}"),
            )),
            Some(key(&format!("COMPANY#{company}"), &format!("PROJECT#{project}"))),
            candidate.map(|id| key(&partition, &format!("CANDIDATE#{id}"))),
        ];
        let wanted = KeysAndAttributes::builder().set_keys(Some(keys.iter().flatten().cloned().collect()));
        let wanted = wanted.consistent_read(true).build()?;
        let found = self.dynamodb.batch_get_item().request_items(&self.table, wanted).send().await?;
        let mut items = found.responses.and_then(|mut tables| tables.remove(&self.table)).unwrap_or_default();
        let [session, user, project, candidate] = keys.map(|key| {
            let key = key?;
            let place =
                items.iter().position(|item| key.iter().all(|(name, value)| item.get(name) == Some(value)));
            place.map(|place| items.swap_remove(place))
        });
        let (session, user): (Option<Session>, Option<User>) = (parse(session)?, parse(user)?);
        let (session, user) = session.zip(user).ok_or_else(invalid)?;
        let is_alive = session.kind == "token"
            && session.expires_at > Utc::now().timestamp()
            && user.is_active
            && session.claim.account.customer.as_ref() == Some(&user.id)
            && session.epoch == user.session_epoch;
        if !is_alive {
            return Err(invalid());
        }
        Ok(Loaded { user, project: parse(project)?, candidate: parse(candidate)? })
    }

    fn show<'a>(&self, candidate: &'a Candidate) -> CandidateView<'a> {
        let Candidate { id, company, project, profile, .. } = candidate;
        let own = format!("{}/companies/{company}", self.base_url);
        CandidateView {
            company: format!("{own}/"),
            project: format!("{own}/projects/{project}/"),
            resource_uri: format!("{own}/projects/{project}/candidates/{id}/"),
            first_name: &profile.first_name,
            last_name: &profile.last_name,
            email: profile.email.as_deref().unwrap_or_default(),
            status: &candidate.status,
            invitationdate: candidate.invited_at,
            confirmationdate: candidate.confirmed_at,
            interviewdate: candidate.interviewed_at,
            deadline: profile.deadline,
            phone: &profile.phone,
            gender: &profile.gender,
            address: &profile.address,
            created_by: candidate.created_by.as_ref().map(|by| format!("{own}/customers/{by}/")),
        }
    }
}

/// Company, project and candidate of a path.
fn route(path: &str) -> Option<(&str, &str, Option<&str>)> {
    let path = path.strip_prefix("/api/v3/companies/")?.strip_suffix('/')?;
    match path.split('/').collect::<Vec<_>>()[..] {
        [company, "projects", project, "candidates"] => Some((company, project, None)),
        [company, "projects", project, "candidates", id] => Some((company, project, Some(id))),
        _ => None,
    }
}

fn authorise(
    loaded: &Loaded,
    company: &str,
    allowed: impl Fn(&Staff) -> Vec<&Vec<String>>,
) -> Result<(), Failure> {
    let user = &loaded.user;
    let project = loaded.project.as_ref().filter(|_| user.company == company);
    let project = project.ok_or_else(|| refused(404, "Not found."))?;
    let may_all = ["owner", "admin"].contains(&user.account_type.as_str());
    if may_all || allowed(&project.staff).iter().any(|people| people.contains(&user.id)) {
        return Ok(());
    }
    Err(refused(403, "You do not have permission to perform this action."))
}

fn key(pk: &str, sk: &str) -> Item {
    [("pk", pk), ("sk", sk)]
        .map(|(name, value)| (name.to_owned(), AttributeValue::S(value.to_owned())))
        .into()
}

fn parse<T: DeserializeOwned>(item: Option<Item>) -> Result<Option<T>, Error> {
    Ok(item.map(serde_dynamo::from_item).transpose()?)
}

#[tokio::main]
async fn main() -> Result<(), Error> {
    let config = aws_config::load_defaults(aws_config::BehaviorVersion::latest()).await;
    let service = Service {
        dynamodb: Client::new(&config),
        table: env::var("TABLE_NAME")?,
        base_url: env::var("BASE_URL")?,
    };
    run(service_fn(|request| service.answer(request))).await
}

//! POST /api-token-exchange/: RFC 8693, with the JWT of a platform as the subject token.

use std::borrow::Cow;

use axum::Json;
use schemars::JsonSchema;
use serde::Serialize;
use shared::auth::login::{ExchangeTarget, PublicAccess};
use shared::http::body::oauth::or_invalid_request;
use shared::http::reference::ReferenceUris;
use shared::http::{BodyFields, OAuthBody};
use shared::{Error, Result};

const GRANT_TYPE: &str = "urn:ietf:params:oauth:grant-type:token-exchange";
const JWT: &str = "urn:ietf:params:oauth:token-type:jwt";
const ACCESS_TOKEN: &str = "urn:ietf:params:oauth:token-type:access_token";

/// The response to a token exchange.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "ExchangedToken")]
pub(crate) struct ExchangedTokenView {
    /// The token. Send it as `Authorization: Token <access_token>`.
    #[schemars(example = &"a long text of letters and digits")]
    access_token: String,
    /// Always `urn:ietf:params:oauth:token-type:access_token`.
    #[schemars(example = ACCESS_TOKEN)]
    issued_token_type: &'static str,
    /// The scheme of the header `Authorization`: always `Token`, not `Bearer`.
    #[schemars(example = &"Token")]
    token_type: &'static str,
    /// The seconds until the token expires, at most 3,600. It is revoked at once when the named token is deleted.
    #[schemars(example = 3600)]
    expires_in: i64,
}

/// Exchanges a platform's JWT for a token that acts as a named token.
pub(crate) async fn exchange(
    access: PublicAccess,
    OAuthBody(body): OAuthBody,
) -> Result<Json<ExchangedTokenView>> {
    let request = ExchangeRequest::read(body).map_err(or_invalid_request)?;
    let target = request.target(access.references())?;
    let made = access.exchange(&target, &request.subject_token).await?;
    let made = made.ok_or(Error::OAuth {
        error: "invalid_request",
        code: "not_exchanged",
        detail: Cow::Borrowed(
            "The subject token was refused. An owner of the company finds the reason in last_problem of the named token.",
        ),
    })?;
    Ok(Json(ExchangedTokenView {
        access_token: made.secret,
        issued_token_type: ACCESS_TOKEN,
        token_type: "Token",
        expires_in: (made.ends_at - access.now).num_seconds(),
    }))
}

pub(crate) struct ExchangeRequest {
    grant_type: String,
    subject_token: String,
    has_scope: bool,
    resource: Option<String>,
    audience: Option<String>,
}

impl ExchangeRequest {
    pub(crate) fn read(mut body: BodyFields) -> Result<Self> {
        let text = |text: &str| Ok(text.to_owned());
        let grant_type = body.required("grant_type", text);
        let subject_token = body.required("subject_token", text);
        body.required("subject_token_type", |found| one_of(JWT, found));
        body.text("requested_token_type", |found| one_of(ACCESS_TOKEN, found));
        let resource = body.text("resource", text);
        let audience = body.text("audience", text);
        let has_scope = body.text("scope", text).is_some();
        // Refuse the parameter: a token without delegation would not be what the client requested.
        body.text("actor_token", |_| {
            Err::<String, _>("Delegation is not supported. Omit this parameter.".to_owned())
        });
        body.finish(|| {
            Some(Self {
                grant_type: grant_type?,
                subject_token: subject_token?,
                has_scope,
                resource,
                audience,
            })
        })
    }

    /// The company and, if the request names one, the named token.
    fn target(&self, references: ReferenceUris<'_>) -> Result<ExchangeTarget> {
        if self.grant_type != GRANT_TYPE {
            return Err(Error::OAuth {
                error: "unsupported_grant_type",
                code: "unsupported_grant_type",
                detail: format!("grant_type: Use {GRANT_TYPE}").into(),
            });
        }
        // A client that requests fewer rights must not get more.
        if self.has_scope {
            return Err(Error::OAuth {
                error: "invalid_scope",
                code: "invalid_scope",
                detail:
                    "There are no scopes: the token has the rights of the named token. Omit this parameter."
                        .into(),
            });
        }
        let named = [&self.resource, &self.audience].into_iter().flatten();
        let mut targets = named.map(|uri| references.parse_company_or_token(uri));
        match (targets.next(), targets.next()) {
            (Some(Some((company, token))), None) => Ok(ExchangeTarget { company, token }),
            // `resource` and `audience` may both be sent if they agree.
            (Some(Some((company, token))), Some(Some(other))) if other == (company.clone(), token) => {
                Ok(ExchangeTarget { company, token })
            }
            _ => Err(Error::OAuth {
                error: "invalid_target",
                code: "invalid_target",
                detail:
                    "Name the company or the named token by its resource_uri, as resource or as audience."
                        .into(),
            }),
        }
    }
}

fn one_of(wanted: &'static str, found: &str) -> Result<String, String> {
    if found == wanted { Ok(found.to_owned()) } else { Err(format!("Use {wanted}")) }
}

//! Named tokens, which let other services act for a company.

use std::collections::BTreeSet;

use axum::Json;
use chrono::{DateTime, Utc};
use shared::Result;
use shared::auth::access::Admitted;
use shared::auth::credential::chosen_token_value;
use shared::domain::company::Company;
use shared::domain::effect::Effect;
use shared::domain::id::{CompanyId, ProjectId};
use shared::domain::parse_enum;
use shared::domain::policy::{Action, ManageTokens};
use shared::domain::secret::SecretHash;
use shared::domain::staff::customer::AccountType;
use shared::domain::staff::named_token::{MAX_PROJECTS, MadeByToken, NamedToken, TokenRights, check_end};
use shared::domain::text::ShortName;
use shared::http::exchange::respond::{CommittedResponse, Created, NoContent, WithSecret};
use shared::http::iso8601::parse_timestamp;
use shared::http::page::{ListQuery, PageView};
use shared::http::reference::ReferenceUris;
use shared::http::{BodyFields, QueryParameters};

use crate::view::{NewTokenView, TokenView};

/// The parameter that names what is deleted with a token.
pub(crate) const WITH: &str = "with";

/// GET …/tokens/
pub(crate) async fn list(
    access: Admitted<Company, ManageTokens>,
    query: ListQuery,
) -> Result<PageView<TokenView>> {
    // There are few enough to be read whole.
    let all = access.store.tokens(access.company_id()).await?;
    let (page, total) = query.slice(all, |token| token.id.to_string());
    let uses = access.store.last_token_uses(page.rows.iter().map(|token| &**token)).await?;
    let page = page.map(|token| {
        let last_use = uses.get(&token.id).copied();
        TokenView::new(&token, last_use, access.now, access.references())
    });
    query.answer(page, total)
}

/// POST …/tokens/. The only answer that shows the value.
pub(crate) async fn create(
    access: Admitted<Company, ManageTokens>,
    body: BodyFields,
) -> Result<CommittedResponse<WithSecret<Created<NewTokenView>, TokenView>>> {
    let new = NewToken::read(body, access.now, access.company_id(), access.references())?;
    let value = new.value.unwrap_or_else(|| access.new_token_value());
    let id = access.store.next_id(access.now);
    let token = NamedToken {
        id,
        company: access.company_id().clone(),
        name: new.name,
        hash: SecretHash::of(&value),
        media_key: access.token_media_key(id, &value).await?,
        rights: new.rights,
        expires_at: new.expires_at,
        last_used_at: None,
        created_at: access.now,
        created_by: access.caller.customer().ok_or_else(|| access.lacks(Action::ManageTokens))?,
    };
    // A retry gets the token without its value: idempotency keys may be easy to guess, so the table keeps no secret,
    // sealed or not. A client that has lost the value deletes the token and creates another.
    let kept = TokenView::new(&token, None, access.now, access.references());
    let view = NewTokenView::new(&token, value, access.now, access.references());
    access.commit(access.store.create_token(&token), WithSecret(Created(view), kept)).await
}

/// The body of a creation.
pub(crate) struct NewToken {
    name: ShortName,
    /// `None` unless it was chosen.
    value: Option<String>,
    rights: TokenRights,
    expires_at: Option<DateTime<Utc>>,
}

impl NewToken {
    /// Reads the body of a creation at `now`.
    pub(crate) fn read(
        mut body: BodyFields,
        now: DateTime<Utc>,
        company: &CompanyId,
        references: ReferenceUris<'_>,
    ) -> Result<Self> {
        let name = body.required("name", ShortName::parse);
        let value = body.clearable("value", chosen_token_value).flatten();
        let has_type = body.has("account_type");
        let account_type = body.text("account_type", parse_enum);
        let has_projects = body.has("projects");
        let projects: Option<Vec<ProjectId>> =
            body.list("projects", MAX_PROJECTS, |item| references.parse(company, item.reference()?));
        let is_read_only = body.flag("read_only").unwrap_or_default();
        let expires_at = body.clearable_date("expires_at", |text| {
            let end = parse_timestamp(text)?;
            check_end(end, now).map(|()| end)
        });
        // What was read wrong has its own message already.
        let is_read = has_type == account_type.is_some() && has_projects == projects.is_some();
        let account_type = account_type.unwrap_or(AccountType::Owner);
        let rights = TokenRights::new(account_type, projects.map(BTreeSet::from_iter), is_read_only);
        let rights = match rights {
            Err(message) if is_read => {
                body.refuse("projects", message);
                None
            }
            rights => rights.ok(),
        };
        let expires_at = expires_at.flatten();
        body.finish(|| Some(Self { name: name?, value, rights: rights?, expires_at }))
    }
}

/// GET …/tokens/{tokenId}/
pub(crate) async fn read(
    access: Admitted<NamedToken, ManageTokens>,
) -> Result<CommittedResponse<Json<TokenView>>> {
    let token = &access.target;
    let uses = access.store.last_token_uses([&**token].into_iter()).await?;
    access.show(TokenView::new(token, uses.get(&token.id).copied(), access.now, access.references()))
}

/// DELETE …/tokens/{tokenId}/
pub(crate) async fn delete(
    access: Admitted<NamedToken, ManageTokens>,
    query: QueryParameters,
) -> Result<CommittedResponse<NoContent>> {
    let made = read_with(query)?;
    let by = access.caller.customer().ok_or_else(|| access.lacks(Action::ManageTokens))?;
    let effect = Effect::of_token(&access.target, made, by, access.now);
    access.commit(access.store.delete_token(&access.target, effect), NoContent).await
}

/// Reads what is to be deleted with the token.
fn read_with(mut query: QueryParameters) -> Result<BTreeSet<MadeByToken>> {
    // An empty name is refused too: a client that has lost its list must not take the rest for deleted.
    let made = query.list(WITH, |name| {
        let known = || MadeByToken::ALL.map(MadeByToken::as_str).join(", ");
        parse_enum(name).map_err(|_: String| format!("Choose from {}.", known()))
    });
    query.finish()?;
    Ok(made.unwrap_or_default())
}

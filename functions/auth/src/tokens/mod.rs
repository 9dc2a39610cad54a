//! Named tokens, which let other services act for a company.

mod body;
pub(crate) mod document;
mod view;

use std::collections::BTreeSet;

use axum::Json;
use shared::auth::access::Admitted;
use shared::domain::company::Company;
use shared::domain::effect::Effect;
use shared::domain::issuer::IssuerFault;
use shared::domain::parse_enum;
use shared::domain::policy::{Action, ManageTokens};
use shared::domain::staff::named_token::{MadeByToken, NamedToken, TokenProof, TokenUses};
use shared::domain::staff::trust::{NotedProblem, TokenTrust};
use shared::http::exchange::respond::{CommittedResponse, Created, NoContent, WithSecret};
use shared::http::page::{ListQuery, PageView};
use shared::http::{BodyFields, QueryParameters};
use shared::{Error, Result};

use body::{NewProof, NewToken};
use view::{NewTokenView, TokenView};

/// The query parameter that selects what is deleted together with a token.
const WITH: &str = "with";

/// GET …/tokens/
pub(crate) async fn list(
    access: Admitted<Company, ManageTokens>,
    query: ListQuery,
) -> Result<PageView<TokenView>> {
    // A company has so few tokens that all of them can be read.
    let all = access.store.tokens(access.company_id()).await?;
    let (page, total) = query.slice(all, |token| token.id.to_string());
    let uses = access.store.last_token_uses(page.rows.iter().map(|token| &**token)).await?;
    let page = page.map(|token| {
        let uses = uses.get(&token.id).copied().unwrap_or(token.uses);
        TokenView::new(&token, uses, access.now, access.references())
    });
    query.answer(page, total)
}

/// POST …/tokens/. The only answer that shows the value.
pub(crate) async fn create(
    access: Admitted<Company, ManageTokens>,
    body: BodyFields,
) -> Result<CommittedResponse<WithSecret<Created<NewTokenView>, TokenView>>> {
    let new = NewToken::read(
        body,
        access.now,
        access.config().outgoing_targets,
        access.company_id(),
        access.references(),
    )?;
    let id = access.store.next_id(access.now);
    let (value, proof, last_problem) = match new.proof {
        NewProof::Value(chosen) => {
            let value = chosen.unwrap_or_else(|| access.new_token_value());
            let proof = access.token_proof(id, &value).await?;
            (Some(value), proof, None)
        }
        NewProof::Trust(trust) => {
            // First make all checks that need no issuer: otherwise requests that create nothing could query any number
            // of issuers.
            access.store.require_room_for_trust(access.company_id()).await?;
            access.store.require_projects(access.company_id(), &new.rights.projects).await?;
            let problem = problem_of(&access, &trust).await?;
            (None, TokenProof::Trust(trust), problem)
        }
    };
    let token = NamedToken {
        id,
        company: access.company_id().clone(),
        name: new.name,
        proof,
        rights: new.rights,
        expires_at: new.expires_at,
        uses: TokenUses { last_problem, ..TokenUses::default() },
        created_at: access.now,
        created_by: access.caller.customer().ok_or_else(|| access.lacks(Action::ManageTokens))?,
    };
    // A retry gets the token without its value: idempotency keys may be guessable, so the table stores no secret, not
    // even encrypted. A client that has lost the value deletes the token and creates another.
    let kept = TokenView::new(&token, token.uses, access.now, access.references());
    let view = NewTokenView::new(&token, value, access.now, access.references());
    access.commit(access.store.create_token(&token), WithSecret(Created(view), kept)).await
}

/// Queries the issuer once. An unreachable issuer is returned as a problem, because it may be reachable later. Fails if
/// it does not answer as an issuer, since no exchange could succeed, and with [`Error::Throttled`] after too many
/// issuers.
async fn problem_of(
    access: &Admitted<Company, ManageTokens>,
    trust: &TokenTrust,
) -> Result<Option<NotedProblem>> {
    match access.fault_of(&trust.issuer).await? {
        None => Ok(None),
        Some(fault @ IssuerFault::Unreachable) => {
            Ok(Some(NotedProblem { problem: fault.into(), at: access.now }))
        }
        Some(fault) => Err(Error::field("trust.issuer", fault.advice())),
    }
}

/// GET …/tokens/{tokenId}/
pub(crate) async fn read(
    access: Admitted<NamedToken, ManageTokens>,
) -> Result<CommittedResponse<Json<TokenView>>> {
    let token = &access.target;
    let uses = access.store.last_token_uses([&**token].into_iter()).await?;
    let uses = uses.get(&token.id).copied().unwrap_or(token.uses);
    access.show(TokenView::new(token, uses, access.now, access.references()))
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

/// Reads what to delete together with the token.
fn read_with(mut query: QueryParameters) -> Result<BTreeSet<MadeByToken>> {
    // Refuse an empty value too: a client that has lost its list must not believe that something was deleted.
    let made = query.list(WITH, |name| {
        let known = || MadeByToken::ALL.map(MadeByToken::as_str).join(", ");
        parse_enum(name).map_err(|_: String| format!("Choose from {}.", known()))
    });
    query.finish()?;
    Ok(made.unwrap_or_default())
}

//! Named tokens, by which other services act for a company.

use axum::Json;
use axum::extract::RawQuery;
use shared::auth::credential::chosen_token_value;
use shared::auth::guard::{InCompany, OfCompany};
use shared::auth::policy::{ManageTokens, NOT_ALLOWED};
use shared::domain::named_token::NamedToken;
use shared::domain::secret::SecretHash;
use shared::domain::text::Name;
use shared::http::Fields;
use shared::http::page::{Envelope, ListQuery};
use shared::http::respond::{Created, Done, ShownOnce};
use shared::{Error, Result};

use crate::view::{NewTokenView, TokenView};

/// GET …/tokens/
pub(crate) async fn list(
    guard: InCompany<ManageTokens>,
    RawQuery(query): RawQuery,
) -> Result<Envelope<TokenView>> {
    let query = ListQuery::parse(query.as_deref())?;
    // There are few enough to be read whole.
    let all = guard.store.tokens(guard.company()).await?;
    let (page, total) = query.slice(all, |token| token.id.to_string());
    query.check_range(total)?;
    let page = page.map(|token| TokenView::new(&token, guard.references()));
    Ok(query.envelope(&guard.references().tokens(guard.company()), page, total))
}

/// POST …/tokens/. The only answer that shows the value.
pub(crate) async fn create(
    guard: InCompany<ManageTokens>,
    body: Fields,
) -> Result<ShownOnce<Created<NewTokenView>, TokenView>> {
    let (name, value) = read_new(body)?;
    let value = value.unwrap_or_else(|| guard.new_token_value());
    let token = NamedToken {
        id: guard.store.next_id(guard.now),
        company: guard.company().clone(),
        name,
        hash: SecretHash::of(&value),
        media_key: guard.new_media_key(),
        created_at: guard.now,
        created_by: guard.caller.customer().ok_or(Error::Forbidden(NOT_ALLOWED))?,
    };
    guard.store.commit(guard.store.create_token(&token)).await?;
    let address = guard.references().token(guard.company(), token.id);
    let kept = TokenView::new(&token, guard.references());
    Ok(ShownOnce(Created(address, NewTokenView::new(&token, value, guard.references())), kept))
}

/// Reads the body of a creation: the name, and the value if it was chosen.
pub(crate) fn read_new(mut body: Fields) -> Result<(Name, Option<String>)> {
    let name = body.required("name", Name::parse);
    let value = body.clearable("value", chosen_token_value).flatten();
    body.finish()?;
    let name = name.ok_or_else(|| Error::internal("a required field was neither read nor refused"))?;
    Ok((name, value))
}

/// GET …/tokens/{tokenId}/
pub(crate) async fn read(guard: OfCompany<NamedToken, ManageTokens>) -> Json<TokenView> {
    Json(TokenView::new(&guard.thing, guard.references()))
}

/// DELETE …/tokens/{tokenId}/
pub(crate) async fn delete(guard: OfCompany<NamedToken, ManageTokens>) -> Result<Done> {
    guard.store.commit(guard.store.delete_token(&guard.thing)).await?;
    Ok(Done)
}

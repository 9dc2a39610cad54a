//! Named tokens, by which other services act for a company.

use axum::Json;
use shared::auth::access::{CompanyAccess, TokenAccess};
use shared::auth::credential::chosen_token_value;
use shared::domain::named_token::NamedToken;
use shared::domain::policy::{ManageTokens, NOT_ALLOWED};
use shared::domain::secret::SecretHash;
use shared::domain::text::Name;
use shared::http::Fields;
use shared::http::page::{Envelope, ListQuery};
use shared::http::respond::{Answered, Created, Done, ShownOnce};
use shared::{Error, Result};

use crate::view::{NewTokenView, TokenView};

/// GET …/tokens/
pub(crate) async fn list(
    access: CompanyAccess<ManageTokens>,
    query: ListQuery,
) -> Result<Envelope<TokenView>> {
    // There are few enough to be read whole.
    let all = access.store.tokens(access.company_id()).await?;
    let (page, total) = query.slice(all, |token| token.id.to_string());
    let page = page.map(|token| TokenView::new(&token, access.references()));
    query.answer(&access.references().tokens(access.company_id()), page, total)
}

/// POST …/tokens/. The only answer that shows the value.
pub(crate) async fn create(
    access: CompanyAccess<ManageTokens>,
    body: Fields,
) -> Result<Answered<ShownOnce<Created<NewTokenView>, TokenView>>> {
    let (name, value) = read_new(body)?;
    let value = value.unwrap_or_else(|| access.new_token_value());
    let token = NamedToken {
        id: access.store.next_id(access.now),
        company: access.company_id().clone(),
        name,
        hash: SecretHash::of(&value),
        media_key: access.new_media_key(),
        created_at: access.now,
        created_by: access.caller.customer().ok_or(Error::Forbidden(NOT_ALLOWED))?,
    };
    let address = access.references().token(access.company_id(), token.id);
    let kept = TokenView::new(&token, access.references());
    let view = NewTokenView::new(&token, value, access.references());
    access.commit(access.store.create_token(&token), ShownOnce(Created(address, view), kept)).await
}

/// Reads the body of a creation: the name, and the value if it was chosen.
pub(crate) fn read_new(mut body: Fields) -> Result<(Name, Option<String>)> {
    let name = body.required("name", Name::parse);
    let value = body.clearable("value", chosen_token_value).flatten();
    body.finish(|| Some((name?, value)))
}

/// GET …/tokens/{tokenId}/
pub(crate) async fn read(access: TokenAccess<ManageTokens>) -> Result<Answered<Json<TokenView>>> {
    access.show(TokenView::new(&access.token, access.references()))
}

/// DELETE …/tokens/{tokenId}/
pub(crate) async fn delete(access: TokenAccess<ManageTokens>) -> Result<Answered<Done>> {
    access.commit(access.store.delete_token(&access.token), Done).await
}

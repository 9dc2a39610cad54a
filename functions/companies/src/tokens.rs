//! Named tokens, which let other services act for a company.

use axum::Json;
use shared::auth::access::Admitted;
use shared::auth::credential::chosen_token_value;
use shared::domain::company::Company;
use shared::domain::policy::{ManageTokens, NOT_ALLOWED};
use shared::domain::secret::SecretHash;
use shared::domain::staff::named_token::NamedToken;
use shared::domain::text::ShortName;
use shared::http::BodyFields;
use shared::http::exchange::respond::{CommittedResponse, Created, NoContent, WithSecret};
use shared::http::page::{ListQuery, PageView};
use shared::{Error, Result};

use crate::view::{NewTokenView, TokenView};

/// GET …/tokens/
pub(crate) async fn list(
    access: Admitted<Company, ManageTokens>,
    query: ListQuery,
) -> Result<PageView<TokenView>> {
    // There are few enough to be read whole.
    let all = access.store.tokens(access.company_id()).await?;
    let (page, total) = query.slice(all, |token| token.id.to_string());
    let page = page.map(|token| TokenView::new(&token, access.references()));
    query.answer(page, total)
}

/// POST …/tokens/. The only answer that shows the value.
pub(crate) async fn create(
    access: Admitted<Company, ManageTokens>,
    body: BodyFields,
) -> Result<CommittedResponse<WithSecret<Created<NewTokenView>, TokenView>>> {
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
    // A retry gets the token without its value: idempotency keys may be easy to guess, so the table keeps no secret,
    // sealed or not. A client that has lost the value deletes the token and creates another.
    let kept = TokenView::new(&token, access.references());
    let view = NewTokenView::new(&token, value, access.references());
    access.commit(access.store.create_token(&token), WithSecret(Created(view), kept)).await
}

/// Reads the body of a creation: the name, and the value if it was chosen.
pub(crate) fn read_new(mut body: BodyFields) -> Result<(ShortName, Option<String>)> {
    let name = body.required("name", ShortName::parse);
    let value = body.clearable("value", chosen_token_value).flatten();
    body.finish(|| Some((name?, value)))
}

/// GET …/tokens/{tokenId}/
pub(crate) async fn read(
    access: Admitted<NamedToken, ManageTokens>,
) -> Result<CommittedResponse<Json<TokenView>>> {
    access.show(TokenView::new(&access.target, access.references()))
}

/// DELETE …/tokens/{tokenId}/
pub(crate) async fn delete(
    access: Admitted<NamedToken, ManageTokens>,
) -> Result<CommittedResponse<NoContent>> {
    access.commit(access.store.delete_token(&access.target), NoContent).await
}

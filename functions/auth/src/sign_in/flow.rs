//! The two URLs of a sign-in: its start and the callback. Browsers open both, so errors redirect to a page that shows
//! them; clients that accept only JSON get the usual error response.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use shared::auth::login::{AuthorizationResponse, BegunSignIn, PublicAccess, SignInEnd, SignInRequest};
use shared::domain::id::CompanyId;
use shared::domain::staff::sign_in::SignInFailure;
use shared::http::QueryParameters;
use shared::{Error, Result};

use crate::view::cookie;

/// GET /sign-in/{companyId}/
pub(crate) async fn begin(request: SignInRequest, mut query: QueryParameters) -> Result<Response> {
    let SignInRequest { access, company } = request;
    let return_to = query.unique_filter("return_to", |text| access.parse_return_address(text));
    query.finish()?;
    let Some(company) = company else { return refuse(&access, SignInFailure::Unavailable, None) };
    let return_to = return_to.unwrap_or_else(|| access.references().staff_page(&company).to_string());
    match access.begin_sign_in(&company, return_to).await? {
        Ok(BegunSignIn { location, cookies }) => redirect(StatusCode::FOUND, &location, cookies),
        Err(failure) => refuse(&access, failure, Some(&company)),
    }
}

/// GET /sign-in/{companyId}/callback/
pub(crate) async fn end(request: SignInRequest, authorization: AuthorizationResponse) -> Result<Response> {
    let SignInRequest { access, company } = request;
    let Some(company) = company else { return refuse(&access, SignInFailure::Unavailable, None) };
    let mut response = match access.end_sign_in(&company, &authorization).await {
        Ok(SignInEnd::SignedIn(logged_in, return_to)) => {
            redirect(StatusCode::FOUND, &return_to, vec![cookie(&logged_in.secret, access.config())])?
        }
        Ok(SignInEnd::Failed(failure)) => refuse(&access, failure, Some(&company))?,
        Err(error) => error.into_response(),
    };
    // The state of a sign-in is used only once, so delete its cookie whatever the outcome.
    let forgotten = header_value(&access.clear_sign_in_cookie(&authorization.state))?;
    response.headers_mut().append(header::SET_COOKIE, forgotten);
    Ok(response)
}

/// Redirects browsers to a page that shows the failure. Clients that accept only JSON get an error response.
fn refuse(access: &PublicAccess, failure: SignInFailure, company: Option<&CompanyId>) -> Result<Response> {
    if access.accepts_json_alone() {
        return Ok(Error::Refused(failure.refusal()).into_response());
    }
    let page = access.references().sign_in_page(failure, company);
    redirect(StatusCode::SEE_OTHER, page.as_str(), Vec::new())
}

fn redirect(status: StatusCode, location: &str, cookies: Vec<String>) -> Result<Response> {
    let mut response = status.into_response();
    let headers = response.headers_mut();
    headers.insert(header::LOCATION, header_value(location)?);
    // The URL of the request may contain an authorisation code.
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    for cookie in cookies {
        headers.append(header::SET_COOKIE, header_value(&cookie)?);
    }
    Ok(response)
}

fn header_value(text: &str) -> Result<HeaderValue> {
    HeaderValue::from_str(text).map_err(Error::internal)
}

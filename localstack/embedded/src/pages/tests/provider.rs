//! The provider for sign-in.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};
use sha2::{Digest as _, Sha256};

use super::*;

const CALLBACK: &str = "http://localhost/api/v3/sign-in/acme/callback/";
const VERIFIER: &str = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const PERSON: &str = "username=ada&email=ada%40acme.example&verified=on";

/// The query of an authorisation request, with one parameter replaced.
fn query(name: &str, value: &str) -> String {
    let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(VERIFIER));
    let parameters = [
        ("response_type", "code"),
        ("client_id", "interviews"),
        ("redirect_uri", CALLBACK),
        ("scope", "openid email"),
        ("state", "s t"),
        ("nonce", "n"),
        ("code_challenge", &*challenge),
        ("code_challenge_method", "S256"),
    ];
    let changed = parameters.map(|(known, kept)| (known, if known == name { value } else { kept }));
    url::form_urlencoded::Serializer::new(String::new()).extend_pairs(changed).finish()
}

async fn answer(pages: &Pages, request: Request<Body>) -> (StatusCode, String, String) {
    let response = router(pages.clone()).oneshot(request).await.unwrap();
    let location = response.headers().get(header::LOCATION).map(|to| to.to_str().unwrap().to_owned());
    let (status, body) = (response.status(), to_bytes(response.into_body(), usize::MAX).await.unwrap());
    (status, location.unwrap_or_default(), String::from_utf8(body.to_vec()).unwrap())
}

/// Submits the form, and returns the URL of the redirect.
async fn fill_in(pages: &Pages, query: &str, form: &str) -> (StatusCode, String) {
    let request = Request::post(format!("/_local/provider/authorize?{query}"));
    let (status, location, _) = answer(pages, request.body(Body::from(form.to_owned())).unwrap()).await;
    (status, location)
}

/// Exchanges the code in a redirect URL.
async fn exchange(pages: &Pages, address: &str, secret: &str, verifier: &str) -> (u16, Value) {
    let address = url::Url::parse(address).unwrap();
    let (_, code) = address.query_pairs().find(|(name, _)| name == "code").unwrap();
    let form = [
        ("grant_type", "authorization_code"),
        ("code", &*code),
        ("redirect_uri", CALLBACK),
        ("code_verifier", verifier),
    ];
    let form = url::form_urlencoded::Serializer::new(String::new()).extend_pairs(form).finish();
    let basic = format!("Basic {}", STANDARD.encode(format!("interviews:{secret}")));
    let request = Request::post("/_local/provider/token").header(header::AUTHORIZATION, basic);
    let (status, _, body) = answer(pages, request.body(Body::from(form)).unwrap()).await;
    (status.as_u16(), serde_json::from_str(&body).unwrap())
}

#[tokio::test]
async fn the_provider_signs_in_whoever_fills_in_its_form() {
    let pages = pages(&Mailbox::default());
    let query = query("", "");
    let form = Request::get(format!("/_local/provider/authorize?{query}")).body(Body::empty()).unwrap();
    let (status, _, page) = answer(&pages, form).await;
    assert!(status == StatusCode::OK && page.contains("asks for no password"), "{page}");
    let (status, address) = fill_in(&pages, &query, PERSON).await;
    assert_eq!(status, StatusCode::SEE_OTHER);
    let back = "&state=s+t&iss=http%3A%2F%2Flocalhost%2F_local%2Fprovider";
    assert!(address.starts_with(&format!("{CALLBACK}?code=")) && address.ends_with(back), "{address}");

    let (status, made) = exchange(&pages, &address, "no-secret-at-all", VERIFIER).await;
    assert_eq!(status, 200, "{made}");
    let id_token = made["id_token"].as_str().unwrap();
    let (signed, signature) = id_token.rsplit_once('.').unwrap();
    let claims: Value =
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(signed.split('.').nth(1).unwrap()).unwrap()).unwrap();
    for (name, value) in [
        ("iss", json!("http://localhost/_local/provider")),
        ("aud", json!("interviews")),
        ("sub", json!("ada")),
        ("email", json!("ada@acme.example")),
        ("email_verified", json!(true)),
        ("nonce", json!("n")),
    ] {
        assert_eq!(claims[name], value, "{name}");
    }
    let keys = Request::get("/_local/provider/keys").body(Body::empty()).unwrap();
    let keys: Value = serde_json::from_str(&answer(&pages, keys).await.2).unwrap();
    let coordinates = ["x", "y"].map(|name| keys["keys"][0][name].as_str().unwrap().to_owned());
    let mut point = vec![4];
    point.extend(coordinates.iter().flat_map(|coordinate| URL_SAFE_NO_PAD.decode(coordinate).unwrap()));
    let key = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, point);
    key.verify(signed.as_bytes(), &URL_SAFE_NO_PAD.decode(signature).unwrap()).unwrap();
    // A code can be used only once.
    let (status, again) = exchange(&pages, &address, "no-secret-at-all", VERIFIER).await;
    assert_eq!((status, &again["error"]), (400, &json!("invalid_grant")));
}

#[tokio::test]
async fn the_provider_refuses_other_clients_addresses_and_codes() {
    let pages = pages(&Mailbox::default());
    for (name, value) in [
        ("response_type", "token"),
        ("client_id", "other"),
        ("redirect_uri", "https://elsewhere.example/"),
        ("code_challenge_method", "plain"),
        ("scope", "email"),
    ] {
        let query = query(name, value);
        let form = Request::get(format!("/_local/provider/authorize?{query}")).body(Body::empty()).unwrap();
        let (status, _, page) = answer(&pages, form).await;
        assert!(status == StatusCode::BAD_REQUEST && page.contains(name), "{name}: {page}");
        assert_eq!(fill_in(&pages, &query, PERSON).await, (StatusCode::BAD_REQUEST, String::new()), "{name}");
    }
    let query = query("", "");
    for form in ["", "username=ada", "username=+&email=ada%40acme.example"] {
        assert_eq!(fill_in(&pages, &query, form).await.0, StatusCode::BAD_REQUEST, "{form}");
    }
    let (_, cancelled) = fill_in(&pages, &query, &format!("{PERSON}&cancel=true")).await;
    assert!(cancelled.starts_with(&format!("{CALLBACK}?error=access_denied&state=s+t")), "{cancelled}");
    let foreign = Request::post(format!("/_local/provider/authorize?{query}"));
    let foreign = foreign.header("sec-fetch-site", "cross-site").body(Body::from(PERSON)).unwrap();
    assert_eq!(answer(&pages, foreign).await.0, StatusCode::FORBIDDEN);

    for (secret, verifier, error) in
        [("wrong", VERIFIER, "invalid_client"), ("no-secret-at-all", "another", "invalid_grant")]
    {
        let (_, address) = fill_in(&pages, &query, PERSON).await;
        assert_eq!(exchange(&pages, &address, secret, verifier).await.1["error"], error);
    }
    let (_, address) = fill_in(&pages, &query, PERSON).await;
    pages.clock.advance(std::time::Duration::from_secs(61)).unwrap();
    let (_, late) = exchange(&pages, &address, "no-secret-at-all", VERIFIER).await;
    assert_eq!(late["error"], "invalid_grant");
}

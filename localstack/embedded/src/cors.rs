//! CORS: the rules of `template.yaml` for the API and for the bucket, with the origins of its parameter
//! `AllowedOrigins`.

use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, header, request};
use serde_json::Value;

/// The names of a rule's members, which differ between API Gateway and S3.
pub(crate) struct Names {
    pub(crate) methods: &'static str,
    pub(crate) headers: &'static str,
    pub(crate) exposed: &'static str,
}

/// The CORS rules for a list of origins.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Cors {
    origins: Vec<String>,
    methods: Vec<String>,
    /// In lower case; `*` matches any header.
    headers: Vec<String>,
    exposed: Vec<String>,
    max_age: u64,
    allows_credentials: bool,
}

impl Cors {
    /// Reads the template's rules.
    pub(crate) fn read(rules: &Value, names: &Names, origins: &[String]) -> Self {
        let list = |name: &str| -> Vec<String> {
            let entries = rules[name].as_array().into_iter().flatten().filter_map(Value::as_str);
            entries.map(str::to_owned).collect()
        };
        Self {
            origins: origins.to_vec(),
            methods: list(names.methods),
            headers: list(names.headers).iter().map(|name| name.to_ascii_lowercase()).collect(),
            exposed: list(names.exposed),
            max_age: rules["MaxAge"].as_u64().unwrap_or_default(),
            allows_credentials: rules["AllowCredentials"] == true,
        }
    }

    /// Whether any origin is allowed.
    pub(crate) fn is_on(&self) -> bool {
        !self.origins.is_empty()
    }

    /// The headers of the response to a preflight request; `None` if its origin, method or one of its headers is not
    /// allowed.
    pub(crate) fn to_preflight(&self, asked: &HeaderMap) -> Option<HeaderMap> {
        let mut headers = self.allowed(asked)?;
        let method = text(asked, &header::ACCESS_CONTROL_REQUEST_METHOD);
        if !self.methods.iter().any(|allowed| allowed == method) {
            return None;
        }
        let wanted = text(asked, &header::ACCESS_CONTROL_REQUEST_HEADERS).to_ascii_lowercase();
        let mut wanted_each = wanted.split(',').map(str::trim).filter(|name| !name.is_empty());
        let takes_any = self.headers.iter().any(|allowed| allowed == "*");
        if !takes_any && !wanted_each.all(|name| self.headers.iter().any(|allowed| allowed == name)) {
            return None;
        }
        let granted = if takes_any { wanted } else { self.headers.join(",") };
        for (name, value) in [
            (header::ACCESS_CONTROL_ALLOW_METHODS, self.methods.join(",")),
            (header::ACCESS_CONTROL_ALLOW_HEADERS, granted),
            (header::ACCESS_CONTROL_MAX_AGE, self.max_age.to_string()),
        ] {
            headers.extend(HeaderValue::try_from(value).ok().map(|value| (name, value)));
        }
        Some(headers)
    }

    /// The CORS headers of another response; `None` if the request's origin is not allowed.
    pub(crate) fn to_answer(&self, asked: &HeaderMap) -> Option<HeaderMap> {
        let mut headers = self.allowed(asked)?;
        let exposed = HeaderValue::try_from(self.exposed.join(",")).ok();
        headers.extend(exposed.map(|value| (header::ACCESS_CONTROL_EXPOSE_HEADERS, value)));
        Some(headers)
    }

    fn allowed(&self, asked: &HeaderMap) -> Option<HeaderMap> {
        let origin = asked.get(header::ORIGIN)?;
        self.origins.iter().find(|allowed| *allowed == origin)?;
        let mut headers = HeaderMap::from_iter([(header::ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone())]);
        if self.allows_credentials {
            headers.insert(header::ACCESS_CONTROL_ALLOW_CREDENTIALS, HeaderValue::from_static("true"));
        }
        Some(headers)
    }
}

pub(crate) fn is_preflight(head: &request::Parts) -> bool {
    head.method == Method::OPTIONS
        && head.headers.contains_key(header::ORIGIN)
        && head.headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> &'a str {
    headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
}

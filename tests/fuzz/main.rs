//! Parsers of what strangers send, over inputs that are made from a committed corpus by chance.
//!
//! Each target runs for `FUZZ_SECONDS`, two unless it is set. An input over which one panics is written into its corpus,
//! `tests/fuzz/corpus/<target>`, and is tried first from then on. Nothing guides the chance: that takes a nightly
//! compiler, or a second build of everything.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod mutate;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::Duration;

use axum::body::Body;
use axum::extract::FromRequest;
use axum::http::{HeaderMap, HeaderValue, Method, Request, header};
use embedded::in_process;
use serde_json::json;
use shared::app::App;
use shared::auth::credential::Credential;
use shared::clock::{Clock, Stopwatch, SystemClock, SystemEntropy};
use shared::config::Config;
use shared::domain::archive::RecordKind;
use shared::domain::media::captions::CaptionText;
use shared::domain::media::file::FileKind;
use shared::domain::text::TextLine;
use shared::event::ObjectCreated;
use shared::http::QueryParameters;
use shared::http::iso8601::parse_timestamp;
use shared::http::wire::Uri;
use shared::http::{FileChange, RequestConditions, WithFiles};
use shared::media::{AnswerObjects, CheckedFile, FileUrlToken, logo_picture, upload_in, video_upload_in};
use shared::store::ArchiveReader;
use tests::hostile::crc32;
use tower::ServiceExt;

use crate::mutate::Chance;

const DEFAULT_SECONDS: u64 = 2;

/// Runs `target` over its corpus, and then over what chance makes of it until the time is over.
fn fuzz(name: &str, mut target: impl FnMut(&[u8])) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(name);
    let mut files: Vec<_> = folder.read_dir().unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    let corpus: Vec<Vec<u8>> = files.iter().map(|file| std::fs::read(file).unwrap()).collect();
    assert!(!corpus.is_empty(), "{} is empty", folder.display());
    let mut run = |input: &[u8]| {
        if catch_unwind(AssertUnwindSafe(|| target(input))).is_err() {
            let file = folder.join(format!("found-{:08x}", crc32(input)));
            std::fs::write(&file, input).unwrap();
            panic!("{name} panics over {}", file.display());
        }
    };
    corpus.iter().for_each(|input| run(input));
    let limit = std::env::var_os("FUZZ_SECONDS").map(|seconds| seconds.to_str().unwrap().parse().unwrap());
    let limit = Duration::from_secs(limit.unwrap_or(DEFAULT_SECONDS));
    let mut chance = Chance::new(SystemClock.now().timestamp_micros().unsigned_abs());
    let (stopwatch, mut count) = (Stopwatch::start(), 0u64);
    while stopwatch.elapsed() < limit {
        run(&chance.mutated(&corpus));
        count += 1;
    }
    eprintln!("{name}: {count} inputs");
}

/// Runs a target that needs the service's settings. It may not come as far as the table or the bucket: there are none.
fn fuzz_async(name: &str, mut target: impl AsyncFnMut(&App, &[u8])) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let variables = |name: &str| {
        let value = match name {
            "BASE_URL" => "https://hr.example/api/v3",
            "AWS_REGION" => "eu-central-1",
            "AWS_ACCESS_KEY_ID" | "AWS_SECRET_ACCESS_KEY" | "TABLE_NAME" => "fuzz",
            _ => return None,
        };
        Some(value.to_owned())
    };
    let config = Config::from_variables(variables).unwrap();
    let app = App::new(config, std::sync::Arc::new(SystemClock), std::sync::Arc::new(SystemEntropy));
    fuzz(name, |input| runtime.block_on(target(&app, input)));
}

async fn read_body(app: &App, content_type: &str, body: Vec<u8>) {
    let request =
        Request::post("/").header(header::CONTENT_TYPE, content_type).body(Body::from(body)).unwrap();
    let Ok(WithFiles(mut fields)) = WithFiles::from_request(request, app).await else { return };
    fields.text_or_empty("first_name", TextLine::<100>::parse);
    fields.clearable("deadline", parse_timestamp);
    fields.partner_data("partner_data");
    let changes = [
        (FileKind::Photo, fields.file(FileKind::Photo, || None)),
        (FileKind::Cv, fields.file(FileKind::Cv, || None)),
    ];
    for (kind, change) in changes {
        if let Some(FileChange::Put(bytes)) = change {
            let _ = CheckedFile::new(kind, bytes).await;
        }
    }
    let _ = fields.finish(|| Some(()));
}

#[test]
fn multipart() {
    fuzz_async("multipart", async |app, input| {
        read_body(app, "multipart/form-data; boundary=b", input.to_vec()).await;
    });
}

#[test]
fn json() {
    fuzz_async("json", async |app, input| read_body(app, "application/json", input.to_vec()).await);
}

#[test]
fn condition() {
    fuzz("condition", |input| {
        for (method, name) in [(Method::GET, header::IF_NONE_MATCH), (Method::PUT, header::IF_MATCH)] {
            let Ok(value) = HeaderValue::from_bytes(input) else { continue };
            let request = Request::builder().method(method).header(name, value).body(()).unwrap();
            let _ = RequestConditions::of(&request.into_parts().0);
        }
    });
}

#[test]
fn data_uri() {
    fuzz_async("data-uri", async |app, input| {
        let photo = String::from_utf8_lossy(input);
        read_body(app, "application/json", json!({ "photo": photo }).to_string().into_bytes()).await;
    });
}

#[test]
fn picture() {
    fuzz_async("picture", async |_, input| {
        let mut input = input.to_vec();
        mend_checksums(&mut input);
        let _ = logo_picture("file", input.clone().into()).await;
        let _ = CheckedFile::new(FileKind::Photo, input).await;
    });
}

/// Sets the checksums of a PNG's chunks right, without which the decoder looks no further.
fn mend_checksums(png: &mut [u8]) {
    let mut rest = png.get_mut(8..).unwrap_or_default();
    while let Some((head, _)) = rest.split_first_chunk::<4>() {
        let length = u32::from_be_bytes(*head) as usize;
        let Some((chunk, next)) = rest.split_at_mut_checked(length.saturating_add(12)) else { return };
        let (covered, checksum) = chunk[4..].split_at_mut(length + 4);
        checksum.copy_from_slice(&crc32(covered).to_be_bytes());
        rest = next;
    }
}

#[test]
fn document() {
    fuzz_async("document", async |_, input| {
        let _ = CheckedFile::new(FileKind::Cv, input.to_vec()).await;
    });
}

#[test]
fn cursor() {
    fuzz("cursor", |input| {
        let rows: Vec<u32> = (0..30).collect();
        let address = Uri::new("https://hr.example/".to_owned());
        let parameters = QueryParameters::parse(address, Some(&String::from_utf8_lossy(input)));
        if let Ok(query) = parameters.finish_list() {
            let (page, total) = query.slice(rows, |row| format!("{row:026}"));
            let _ = query.answer(page, total);
        }
    });
}

#[test]
fn credential() {
    fuzz("credential", |input| {
        for name in [header::AUTHORIZATION, header::COOKIE] {
            let Ok(value) = HeaderValue::from_bytes(input) else { continue };
            let Ok(credential) = Credential::from_headers(&HeaderMap::from_iter([(name, value)])) else {
                continue;
            };
            let company = "acme".parse().unwrap();
            assert!(Credential::from_reference(&credential.to_reference(), &company).is_some());
        }
    });
}

#[test]
fn media_token() {
    fuzz("media-token", |input| {
        if let Some(token) = FileUrlToken::parse(&String::from_utf8_lossy(input)) {
            let _ = Credential::from_reference(token.reference(), &"acme".parse().unwrap());
            token.is_older_than(chrono::TimeDelta::hours(1), SystemClock.now());
        }
    });
}

#[test]
fn s3_key() {
    fuzz("s3-key", |input| {
        let key = String::from_utf8_lossy(input);
        let _ = (upload_in(&key), video_upload_in(&key), AnswerObjects::in_file(&key));
    });
}

#[test]
fn captions() {
    fuzz("captions", |input| {
        if let Ok(text) = CaptionText::parse(input) {
            // Stored texts have no markup, and are read as they were written.
            assert!(!text.as_str().contains('<'));
            assert_eq!(CaptionText::parse(text.as_str().as_bytes()), Ok(text));
        }
    });
}

/// Events of every kind, as the functions parse them; requests are answered as well, as far as no table is needed.
#[test]
fn event() {
    fuzz_async("event", async |app, input| {
        let _ = serde_json::from_slice::<ObjectCreated>(input);
        let _ = serde_json::from_slice::<shared::event::TableEvent>(input);
        let _ = serde_json::from_slice::<platform_events::BusEvent>(input);
        let _ = serde_json::from_slice::<admin::OperatorCommand>(input);
        let function = in_process(docs::service(app.clone()));
        let _ = function.oneshot(String::from_utf8_lossy(input).into_owned()).await;
    });
}

#[test]
fn archive() {
    let company = "acme".parse().unwrap();
    let reader = ArchiveReader { company: &company, name: &company, entropy: &SystemEntropy };
    fuzz("archive", |input| {
        let line = String::from_utf8_lossy(input);
        for kind in RecordKind::ALL {
            if let Ok(record) = reader.read(kind, line.trim_end()) {
                let _ = record.without_grant().unwrap();
            }
        }
    });
}

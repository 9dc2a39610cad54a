//! Typical files, and how clients upload and fetch them.

use std::io::Cursor;

use axum::body::{Body, to_bytes};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hyper_util::rt::TokioIo;
use image::{DynamicImage, ImageFormat, Rgb, RgbImage};
use serde_json::Value;
use tokio::net::TcpStream;

use crate::hostile::crc32;
use crate::http::Request;

/// The default boundary between the parts of a [`Form`].
const BOUNDARY: &str = "----boundary7MA4YWxkTrZu0gW";

/// Builds a multipart/form-data body.
#[derive(Debug, Clone, Default)]
pub struct Form {
    parts: Vec<Vec<u8>>,
    boundary: Option<String>,
}

impl Form {
    /// Creates a form without parts.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a text field.
    pub fn text(self, name: &str, text: &str) -> Self {
        self.part(format!("name=\"{name}\""), "", text.as_bytes())
    }

    /// Adds a file.
    pub fn file(self, name: &str, file_name: &str, content_type: &str, bytes: &[u8]) -> Self {
        let type_line = format!("Content-Type: {content_type}\r\n");
        self.part(format!("name=\"{name}\"; filename=\"{file_name}\""), &type_line, bytes)
    }

    /// Sets the boundary.
    pub fn separated_by(self, boundary: &str) -> Self {
        Self { boundary: Some(boundary.to_owned()), ..self }
    }

    /// Adds a part with these parameters of `Content-Disposition` and lines of further headers.
    pub fn part(mut self, parameters: impl AsRef<[u8]>, headers: &str, bytes: &[u8]) -> Self {
        let disposition = [b"Content-Disposition: form-data; ", parameters.as_ref(), b"\r\n"].concat();
        self.parts.push([&disposition, headers.as_bytes(), b"\r\n", bytes].concat());
        self
    }
}

impl Request {
    /// Sets a form as the body.
    pub fn form(self, form: Form) -> Self {
        let boundary = form.boundary.as_deref().unwrap_or(BOUNDARY);
        let part = |part: Vec<u8>| [format!("--{boundary}\r\n").as_bytes(), &part, b"\r\n"].concat();
        let mut body: Vec<u8> = form.parts.into_iter().flat_map(part).collect();
        body.extend(format!("--{boundary}--\r\n").into_bytes());
        self.body(&format!("multipart/form-data; boundary={boundary}"), body)
    }
}

/// A photo in this format.
///
/// # Panics
/// If the photo cannot be encoded.
pub fn photo(format: ImageFormat, width: u32, height: u32) -> Vec<u8> {
    let picture = RgbImage::from_fn(width, height, |x, y| Rgb([(x * 7) as u8, (y * 5) as u8, (x ^ y) as u8]));
    let mut bytes = Cursor::new(Vec::new());
    DynamicImage::from(picture).write_to(&mut bytes, format).expect("a photo");
    bytes.into_inner()
}

/// A PNG that does not compress: three bytes per pixel.
///
/// # Panics
/// If the picture cannot be encoded.
pub fn noise(width: u32, height: u32) -> Vec<u8> {
    let mut state = 1u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    let picture = RgbImage::from_fn(width, height, |_, _| Rgb([next(), next(), next()]));
    let mut bytes = Cursor::new(Vec::new());
    DynamicImage::from(picture).write_to(&mut bytes, ImageFormat::Png).expect("a picture");
    bytes.into_inner()
}

/// Encodes bytes as in a JSON body.
pub fn data_uri(content_type: &str, bytes: &[u8]) -> String {
    format!("data:{content_type};base64,{}", STANDARD.encode(bytes))
}

/// A PDF of at least `bytes` bytes.
pub fn pdf(bytes: usize) -> Vec<u8> {
    let mut pdf = b"%PDF-1.4\n1 0 obj\n<< /Type /Catalog >>\nendobj\n".to_vec();
    while pdf.len() < bytes {
        pdf.extend_from_slice(b"% what people know and have done\n");
    }
    pdf.extend_from_slice(b"trailer << /Root 1 0 R >>\n%%EOF\n");
    pdf
}

/// A photo that contains this text in an Exif segment and a comment.
pub fn photo_saying(text: &str) -> Vec<u8> {
    let segment = |marker: u8, data: &[u8]| {
        let length = u16::try_from(data.len() + 2).expect("a short text").to_be_bytes();
        [&[0xFF, marker][..], &length, data].concat()
    };
    // A directory without entries, followed by the text.
    let exif = [b"Exif\0\0II*\0\x08\0\0\0\0\0\0\0\0\0", text.as_bytes()].concat();
    let jpeg = photo(ImageFormat::Jpeg, 9, 9);
    [&jpeg[..2], &segment(0xE1, &exif), &segment(0xFE, text.as_bytes()), &jpeg[2..]].concat()
}

/// An uncompressed Word document with this text.
pub fn docx(text: &str) -> Vec<u8> {
    let body = format!("<w:document><w:t>{text}</w:t></w:document>");
    zip(&[("[Content_Types].xml", "<Types/>"), ("word/document.xml", &body)])
}

/// A ZIP archive of two uncompressed entries.
pub fn zip(entries: &[(&str, &str); 2]) -> Vec<u8> {
    let (mut zip, mut directory) = (Vec::new(), Vec::new());
    for (name, data) in entries {
        let length = |text: &str| u32::try_from(text.len()).expect("a short text").to_le_bytes();
        let offset = u32::try_from(zip.len()).expect("a short file").to_le_bytes();
        let sum = crc32(data.as_bytes()).to_le_bytes();
        let sizes = [&sum[..], &length(data), &length(data), &length(name)[..2], &[0; 2]].concat();
        let head = [b"\x14\0\0\0\0\0\0\0\0\0", &sizes[..]].concat();
        zip.extend([b"PK\x03\x04", &head[..], name.as_bytes(), data.as_bytes()].concat());
        directory.extend([b"PK\x01\x02\x14\0", &head[..], &[0; 10], &offset, name.as_bytes()].concat());
    }
    let place =
        [directory.len(), zip.len()].map(|one| u32::try_from(one).expect("a short file").to_le_bytes());
    let end = [b"PK\x05\x06\0\0\0\0\x02\0\x02\0", &place.concat()[..], &[0; 2]].concat();
    [zip, directory, end].concat()
}

/// A response of the bucket.
#[derive(Debug)]
pub struct Fetched {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl Fetched {
    /// The value of a header; empty if it is missing.
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }
}

/// Sends a request to a signed URL.
///
/// # Panics
/// If there is no response.
pub async fn send_to(method: Method, url: &str, headers: &[(&str, &str)], body: Vec<u8>) -> Fetched {
    let url: url::Url = url.parse().expect("a URL");
    let (host, port) = (url.host_str().expect("a host"), url.port_or_known_default().expect("a port"));
    let stream = TcpStream::connect((host, port)).await.expect("a connection");
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.expect("a handshake");
    tokio::spawn(connection);
    let target = format!("{}?{}", url.path(), url.query().unwrap_or_default());
    let mut request = axum::http::Request::new(Body::from(body));
    *request.method_mut() = method;
    *request.uri_mut() = target.parse().expect("a target");
    let host = format!("{host}:{port}");
    for (name, value) in headers.iter().chain(&[("host", host.as_str())]) {
        let name: HeaderName = name.parse().expect("a header's name");
        request.headers_mut().insert(name, HeaderValue::from_str(value).expect("a header's value"));
    }
    let (head, body) = sender.send_request(request).await.expect("an answer").into_parts();
    let body = to_bytes(Body::new(body), usize::MAX).await.expect("a body").to_vec();
    Fetched { status: head.status, headers: head.headers, body }
}

/// Fetches the object at a signed URL.
pub async fn fetch(url: &str, headers: &[(&str, &str)]) -> Fetched {
    send_to(Method::GET, url, headers, Vec::new()).await
}

/// Uploads a file with the request in an announcement's response.
///
/// # Panics
/// If the response contains no such request.
pub async fn put(announced: &Value, bytes: Vec<u8>) -> Fetched {
    let upload = &announced["upload"];
    let headers = upload["headers"].as_object().expect("headers");
    let headers: Vec<(&str, &str)> = headers
        .iter()
        .filter(|(name, _)| !name.eq_ignore_ascii_case("host"))
        .map(|(name, value)| (name.as_str(), value.as_str().expect("a header's value")))
        .collect();
    assert_eq!(upload["method"], "PUT");
    send_to(Method::PUT, upload["url"].as_str().expect("a URL"), &headers, bytes).await
}

//! The URLs in the examples of the OpenAPI document, for the fields of views.

macro_rules! in_company {
    ($($path:literal),+) => {
        concat!("https://interviews.example.com/api/v3/companies/acme/", $($path),+)
    };
}

macro_rules! in_project {
    ($($path:literal),+) => {
        in_company!("projects/01JQ8Z6R7ZP4S3C0V9N2M5K8TD/", $($path),+)
    };
}

macro_rules! of_candidate {
    ($path:literal) => {
        in_project!("candidates/01JQ8ZB4T1H6W5Y7X3Q9E2G0FA/", $path)
    };
}

pub const COMPANY: &str = in_company!("");
pub const CUSTOMER: &str = in_company!("customers/01JQ8Z2M8F3A6D1S4J7H0K9PME/");
pub const CUSTOMER_SIGN_IN: &str = in_company!("customers/01JQ8Z2M8F3A6D1S4J7H0K9PME/sign-in/");
pub const LABEL: &str = in_company!("labels/01JQ8Z9X5G8T2R4W7Y0N3B6VCM/");
pub const LEGAL_TEXT: &str = in_company!("legal/privacy_policy-3/");
pub const TOKEN: &str = in_company!("tokens/01JQ8ZFB3W6Q9E2R5T8Y1N4MVC/");
pub const CAPTIONS: &str = in_company!("videos/01JQ8ZD9C2N5B8V1X4Z7M0K3QW/captions/en/a-token/");
pub const LOGO: &str = in_company!("logo/01JQ8Z1K4M7P0S3V6Y9B2E5H8T/");
pub const VIDEO: &str = in_company!("videos/01JQ8ZD9C2N5B8V1X4Z7M0K3QW/");
pub const WEBHOOK: &str = in_company!("webhooks/01JQ8ZNE6N9T2A5D8G1K4Q7VPQ/");
pub const DELIVERIES: &str = in_company!(
    "webhooks/01JQ8ZNE6N9T2A5D8G1K4Q7VPQ/deliveries/?before=01JQ8ZPF9R2W5C8F1J4M7S0XPQ&page_size=20"
);
pub const EXPORT: &str = in_company!("exports/01JQ8ZRH8Q3T6W9Z2C5F8J1MPQ/");
pub const EXPORT_MEDIA: &str = in_company!("exports/01JQ8ZRH8Q3T6W9Z2C5F8J1MPQ/media/");
pub const FEED: &str = in_company!("events/?after=1042&page_size=20");

pub const RETENTION: &str = in_company!("retention/");
pub const SIGN_IN: &str = in_company!("sign-in/");
/// The URL to which a company's provider redirects after a sign-in.
pub const SIGN_IN_CALLBACK: &str = "https://interviews.example.com/api/v3/sign-in/acme/callback/";
/// The URL where a company's staff begin to sign in.
pub const SIGN_IN_URL: &str = "https://interviews.example.com/api/v3/sign-in/acme/";

pub const PROJECT: &str = in_project!("");
pub const QUESTION: &str = in_project!("questions/01JQ8ZJX7F2M5T8W1B4E6G9KPQ/");
pub const CRITERION: &str = in_project!("criteria/01JQ8ZKA0H3N6V9Y2C5F8J1MPQ/");
pub const ROLE: &str = in_project!("roles/01JQ8ZGW6M9K2J5H8F1D4S7APQ/");
pub const RESULT: &str = in_project!("results/01JQ8ZB4T1H6W5Y7X3Q9E2G0FA/");

pub const CANDIDATE: &str = of_candidate!("");
pub const CANDIDATE_DATA: &str = of_candidate!("data/");
pub const INTERVIEW: &str = of_candidate!("interview/");
pub const ANSWER: &str = of_candidate!("answers/01JQ8ZJX7F2M5T8W1B4E6G9KPQ/");
pub const TAKE: &str = of_candidate!("answers/01JQ8ZJX7F2M5T8W1B4E6G9KPQ/takes/2/");
pub const ANSWER_VIDEO: &str = of_candidate!("answers/01JQ8ZJX7F2M5T8W1B4E6G9KPQ/takes/2/video/a-token.mp4");
pub const CANDIDATE_CV: &str = of_candidate!("cv/a-token/");
pub const EVALUATION: &str = of_candidate!("evaluations/01JQ8Z2M8F3A6D1S4J7H0K9PME/");
pub const SHARE: &str = of_candidate!("shares/01JQ8ZEV1S4D7F0G3H6J9K2MPQ/");
pub const GUEST_LINK: &str = of_candidate!("guest-links/01JQ8ZQG7P2S5V8Y1B4E7H0KPQ/");
pub const UPLOAD: &str = of_candidate!("uploads/01JQ8ZHT4D7S0A3F6G9H2J5KPQ/");
pub const VETO: &str = of_candidate!("vetos/01JQ8ZMD3K6Q9X2A5D8G1N4RPQ/");

/// The page where guests watch a candidate's answers.
pub const REVIEW: &str = "https://interviews.example.com/review/ivg_AZXRkq3p";
/// The signed URL of an upload to the bucket, outside the API.
pub const UPLOAD_TARGET: &str = "https://uploads.example.com/a-signed-address";
/// The signed URL of a download from the bucket, outside the API.
pub const DOWNLOAD: &str = "https://downloads.example.com/a-signed-address";
/// The page where staff work on a project.
pub const PROJECT_PAGE: &str = "https://interviews.example.com/project/acme/01JQ8Z6R7ZP4S3C0V9N2M5K8TD/";
pub const CANDIDATE_PAGE: &str =
    "https://interviews.example.com/result/acme/01JQ8Z6R7ZP4S3C0V9N2M5K8TD/01JQ8ZB4T1H6W5Y7X3Q9E2G0FA/";

//! How large the film of an answer is for guests, in windows of all sizes.

use image::ImageFormat;
use serde_json::json;
use tests::caller::Caller as _;
use tests::files::{Form, photo};
use tests::http::Request;
use tests::videos::recorded;

use crate::devtools::Page;
use crate::film;
use crate::in_sight::{VIEWPORTS, text_of};
use crate::watched::{FirstQuestion, Watched};

/// The film, its question and what plays it.
const PARTS: [&str; 5] =
    [".frame video", ".box", ".playing button", ".speed select", ".steps button:last-child"];
/// The size of the film on the screen, and its own shape.
const FILM: &str = "(() => {
    const video = document.querySelector('.frame video');
    const { width, height } = video.getBoundingClientRect();
    return { width, height, shape: video.videoWidth / video.videoHeight };
})()";

/// Shows the first answer in each window. `share` is the least part of the window's height that the film has, where it is not as wide as
/// the window.
async fn measure(name: &str, first: FirstQuestion, share: f64) {
    let title = "Regional head of sales, northern and eastern districts, with travel in all of them";
    let watched = Watched::with_first(json!({ "name": title }), first).await;
    let logo = Form::new().file("file", "logo.png", "image/png", &photo(ImageFormat::Png, 300, 120));
    watched.visit.owner.send(Request::put("/companies/acme/logo/").form(logo)).await.expect(200);
    let mut page = Page::open().await;
    page.go(&format!("{}#1", watched.link(json!({})).await)).await;
    page.until_promised("Promise.resolve(document.querySelector('.frame video')?.videoWidth > 0)").await;
    for [width, height] in VIEWPORTS {
        page.fit([width, height]).await;
        page.assert_in_sight([width, height], &PARTS, name).await;
        let shown = page.evaluate(FILM).await;
        let row = format!("{name}, {width}×{height}: {shown}");
        let (wide, high) = (f64::from(width), f64::from(height));
        let film = |name: &str| shown[name].as_f64().unwrap();
        // No bars beside the picture.
        assert!((film("width") / film("height") / film("shape") - 1.0).abs() < 0.02, "{row}");
        let of_height = film("height") / high;
        assert!(of_height >= share || film("width") >= wide - 1.0, "{row}");
        #[expect(clippy::print_stdout, reason = "standard output is what figures are for")]
        {
            println!(
                "{name} {width}x{height} film {:.0}x{:.0} share {of_height:.2}",
                film("width"),
                film("height")
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_film_on_its_side_is_in_sight_beside_a_short_question() {
    measure("wide, 40 characters", FirstQuestion { text: text_of(40), ..FirstQuestion::default() }, 0.5)
        .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_film_on_its_side_is_in_sight_beside_a_long_question_that_a_film_asks() {
    let first = FirstQuestion { text: text_of(990), asking: Some(film()), film: film() };
    measure("wide, 990 characters and a film", first, 0.5).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upright_film_is_in_sight() {
    let how = "-f lavfi -i testsrc2=s=360x640:r=25:d=4 -f lavfi -i sine=d=4 -c:v mpeg4 -q:v 5 -c:a aac";
    let first = FirstQuestion { text: text_of(200), asking: None, film: recorded(how, "mov") };
    measure("upright, 200 characters", first, 0.33).await;
}

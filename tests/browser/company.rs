//! A company as candidates see it: films with captions, its logo, the position.

use image::ImageFormat;
use serde_json::json;
use tests::caller::Caller;
use tests::files::{Form, photo};
use tests::http::Request;

use crate::devtools::{BrowserOptions, Page};
use crate::visit::{Visit, has_kept};
use crate::{film, sent_along};

fn captions(text: &str) -> Form {
    let text = format!("WEBVTT\n\n00:00.500 --> 00:03.500 line:10%\n{text}\n");
    Form::new().file("file", "captions.vtt", "text/vtt", text.as_bytes())
}

#[tokio::test(flavor = "multi_thread")]
async fn films_have_captions_and_each_screen_the_logo() {
    let job = "https://jobs.example/1?a=b&c=d";
    let visit = Visit::invited(json!({ "job_url": job }), &[json!({})]).await;
    let owner = &visit.owner;
    let video = sent_along(owner, &film()).await;
    for (language, text) in
        [("de", "<i>Willkommen</i> &amp; hallo"), ("en", "<script>Welcome</script> &amp; hello")]
    {
        let put = Request::put(&format!("{video}captions/{language}/")).form(captions(text));
        owner.send(put).await.expect(200);
    }
    let logo = Form::new().file("file", "logo.png", "image/png", &photo(ImageFormat::Png, 300, 100));
    owner.send(Request::put("/companies/acme/logo/").form(logo)).await.expect(200);
    let (project, _) = visit.candidate.uri.split_once("candidates/").unwrap();
    owner.patch(project, json!({ "videos": [{ "uri": video, "position": 1 }] })).await.expect(200);
    visit.app.settle().await;

    let mut page = Page::open_with(BrowserOptions::with_devices()).await;
    page.go(&visit.link).await;
    page.on("welcome").await;
    let tracks =
        "[...document.querySelector('.video video').textTracks].map(({ kind, language, label, mode }) =>
        [kind, language, label, mode])";
    for (language, own, other, text) in [
        ("en", ["en", "English"], ["de", "Deutsch"], "Welcome & hello"),
        ("de", ["de", "Deutsch"], ["en", "English"], "Willkommen & hallo"),
    ] {
        if language == "de" {
            let select = "document.querySelector('header select')";
            page.evaluate(&format!("{select}.value = 'de'; {select}.dispatchEvent(new Event('change'))"))
                .await;
        }
        // Shown without being asked for, and before the film plays.
        page.until(&format!("document.querySelector('.video track')?.srclang === '{language}'")).await;
        page.until_promised(
            "Promise.resolve(document.querySelector('.video track').readyState === HTMLTrackElement.LOADED)",
        )
        .await;
        let expected =
            json!([["captions", own[0], own[1], "showing"], ["captions", other[0], other[1], "disabled"]]);
        assert_eq!(page.evaluate(tracks).await, expected);
        let cue = "(({ startTime, endTime, text, line }) => [startTime, endTime, text, line])(
            document.querySelector('.video video').textTracks[0].cues[0])";
        // The text of a cue is WebVTT, and browsers escape in it.
        let text = text.replace('&', "&amp;");
        assert_eq!(page.evaluate(cue).await, json!([0.5, 3.5, text, 10]));
    }

    let shown = "(image => image && [image.naturalWidth, image.naturalHeight, image.alt])(document.querySelector('header img'))";
    page.until_promised("document.querySelector('header img').decode().then(() => true)").await;
    assert_eq!(page.evaluate(shown).await, json!([300, 100, "Acme & Sons"]));
    assert_eq!(
        page.evaluate(&format!("[...document.links].find(one => one.href === '{job}')?.textContent")).await,
        "Zur Stellenbeschreibung"
    );
    page.evaluate("localStorage.clear()").await;

    visit.begin(&mut page).await;
    page.record(1).await;
    assert_eq!(page.evaluate(shown).await, json!([300, 100, "Acme & Sons"]));
    page.until_promised(&has_kept(2)).await;
    page.stop_and_keep().await;
    page.complete().await;
    assert_eq!(page.evaluate(shown).await, json!([300, 100, "Acme & Sons"]));
}

//! Captions, texts, a logo and legal texts, which change while their company is exported: whenever that happens, the archive has them as
//! they were at one moment, and can be imported.

use std::future::Future;
use std::iter;

use image::ImageFormat;
use serde_json::json;
use shared::domain::archive::RecordKind;
use tests::app::TestApp;
use tests::caller::{Caller, Invited, Staff, last_segment};
use tests::chaos::{Chaos, Pause};
use tests::effort;
use tests::files::{Form, photo};
use tests::http::Request;
use tests::takes::Interviewee;
use tests::videos::film;

use super::converted::hold;
use super::{ImportOptions, anyway, try_import};
use crate::admin::export::Archive;
use crate::companies::legal::publish;
use crate::interviews::{begin, project, write};
use crate::videos::crud::announced;

const LOGO: &str = "/companies/acme/logo/";
/// The reads of items that others name: by then, these others were read.
const READS: [(&str, &str); 5] = [
    ("Query", "\"LEGAL#acme\""),
    ("BatchGetItem", "\"LOGO#acme\""),
    ("Query", "\"CAPTIONS#acme\""),
    ("BatchGetItem", "\"TAKE_CAPTIONS#acme"),
    ("Query", "\"TEXTS#acme"),
];

/// A company with items that name others.
struct Naming {
    app: TestApp,
    owner: Staff,
    /// The candidate whose recorded answer has captions.
    recorded: Interviewee,
    /// The number of the take.
    take: u64,
    /// The candidate whose answer is deleted together with its captions.
    restarted: Interviewee,
    writer: Invited,
    /// The addresses of the answers that the writer gives.
    written: [String; 2],
    questions: Vec<String>,
    film: String,
}

fn captions(round: usize) -> String {
    format!("WEBVTT\n\n00:00:01.000 --> 00:00:02.000\nRound {round}\n")
}

impl Naming {
    async fn in_company_of(app: &TestApp) -> Self {
        let owner = app.owner().await;
        let recorded = Interviewee::asked_by(owner.clone(), json!({})).await;
        let take = recorded.record(&[&film()]).await;
        app.settle().await;
        let restarted = Interviewee::asked_by(owner.clone(), json!({ "takes": 3 })).await;
        let asked = ["Why us?", "Since when?"].map(|text| json!({ "text": text, "kind": "text" }));
        let (project, questions) = project(&owner, json!({}), &asked).await;
        let writer = begin(&owner, &project).await;
        write(&writer, &questions[0], "Because.").await.expect(201);
        let written =
            [0, 1].map(|number| format!("{}answers/{}/", writer.uri, last_segment(&questions[number])));
        let film = announced(&owner, 9).await["resource_uri"].as_str().unwrap().to_owned();
        Self { app: app.clone(), owner, recorded, take, restarted, writer, written, questions, film }
    }

    /// Replaces one item of each kind. Puts another one in the first of three rounds, replaces it in the second, and deletes it in the
    /// third.
    async fn change(&self, round: usize) {
        let Self { owner, recorded, restarted, writer, .. } = self;
        let text = captions(round);
        let caption_film = async |language: &str| {
            let form = Form::new().file("file", "captions.vtt", "text/vtt", text.as_bytes());
            owner.send(Request::put(&format!("{}captions/{language}/", self.film)).form(form)).await
        };
        publish(owner, "consent", false).await;
        caption_film("de").await.expect(200);
        recorded.caption(self.take, "de", &text).await.expect(200);
        write(writer, &self.questions[0], &text).await.expect(200);
        if round % 3 < 2 {
            let side = u32::try_from(8 + round).unwrap();
            let logo = Form::new().file("file", "l.png", "image/png", &photo(ImageFormat::Png, side, 8));
            owner.send(Request::put(LOGO).form(logo)).await.expect(200);
            caption_film("en").await.expect(200);
            recorded.caption(self.take, "en", &text).await.expect(200);
            let status = if round.is_multiple_of(3) { 201 } else { 200 };
            write(writer, &self.questions[1], &text).await.expect(status);
            // Another take drops the one before, with its captions.
            let take = restarted.record(&[b"no film"]).await;
            restarted.caption(take, "en", &text).await.expect(200);
        } else {
            for one in [
                LOGO,
                &format!("{}captions/en/", self.film),
                &format!("{}captions/en/", recorded.answer),
                &self.written[1],
                &restarted.answer,
            ] {
                owner.delete(one).await.expect(204);
            }
        }
        self.app.settle().await;
    }

    /// Exports the company, and changes it while `held` holds a request of the export. Imports the archive as another company. Returns whether
    /// the export has come to that request; it was changed afterwards otherwise.
    async fn export(
        &self,
        chaos: &Chaos,
        held: impl Future<Output = Pause>,
        round: usize,
        other: &TestApp,
    ) -> bool {
        let mut export = Box::pin(Archive::of(&self.app));
        let (archive, is_held) = tokio::select! {
            biased;
            pause = held => {
                self.change(round).await;
                pause.resume();
                (export.await, true)
            }
            archive = &mut export => {
                chaos.heal();
                self.change(round).await;
                (archive, false)
            }
        };
        archive.assert_whole();
        assert!(archive.result.is_exact, "in round {round}: {:?}", archive.result);
        let name = Some(format!("copy-{round}").parse().unwrap());
        let imported = try_import(other, archive.folder.path(), ImportOptions { name, ..anyway() }).await;
        assert_eq!(imported.map(|imported| imported.media_missing), Ok(0), "in round {round}");
        is_held
    }
}

async fn hold_about(chaos: &Chaos, (operation, text): (&str, &str)) -> Pause {
    let pause = chaos.pause_about(operation, text);
    pause.reached().await;
    pause
}

#[tokio::test(flavor = "multi_thread")]
async fn an_archive_has_what_its_records_name_although_it_changes_before_it_is_read() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let naming = Naming::in_company_of(&app).await;
    let other = TestApp::start().await;
    let mut held = 0;
    // Three times five rounds bring each read each of the three changes.
    let reads = iter::repeat_n(READS, effort::bound(3, 1)).flatten();
    for (round, read) in reads.enumerate() {
        held += usize::from(naming.export(&chaos, hold_about(&chaos, read), round, &other).await);
    }
    // No logo is read before there is one.
    assert_eq!(held, effort::bound(14, 5));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_archive_can_be_imported_at_whichever_of_its_reads_something_changed() {
    let (app, chaos) = TestApp::start_with_chaos().await;
    let naming = Naming::in_company_of(&app).await;
    let other = TestApp::start().await;
    let mut round = 0;
    for operation in ["Query", "BatchGetItem"] {
        for others in effort::numbers(15) {
            let held = hold(&chaos, operation, others);
            let is_held = naming.export(&chaos, held, round, &other).await;
            round += 1;
            if !is_held {
                break;
            }
        }
    }
    assert!(round > effort::bound(50, 3), "{round}");
}

/// The restore of a table may bring such items back.
#[tokio::test(flavor = "multi_thread")]
async fn items_that_nothing_names_are_in_no_archive() {
    let app = TestApp::start().await;
    let naming = Naming::in_company_of(&app).await;
    naming.change(0).await;
    let before = app.table().contents().await;
    naming.change(2).await;
    let expected = Archive::of(&app).await;
    let now = app.table().contents().await;
    let named = ["CAPTIONS#", "LOGO#", "TAKE_CAPTIONS#", "TEXTS#"];
    let deleted = before.into_iter().filter(|(key, _)| {
        !now.contains_key(key) && named.iter().any(|partition| key.0.starts_with(partition))
    });
    let deleted: Vec<_> = deleted.map(|(_, item)| item).collect();
    assert_eq!(deleted.len(), 5);
    for item in deleted {
        app.table().put(item).await;
    }
    let archive = Archive::of(&app).await;
    for kind in RecordKind::ALL {
        assert_eq!(archive.of_kind(kind), expected.of_kind(kind), "{kind:?}");
    }
    try_import(&TestApp::start().await, archive.folder.path(), anyway()).await.unwrap();
    app.leave_unsound("items that nothing names were put there");
}

//! The conversion of videos: time compared with ffmpeg alone on the same file, and memory of the real function for an
//! upload of 500 MB, both re-encoded and copied.
#![recursion_limit = "256"]

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use shared::clock::Stopwatch;
use shared::domain::media::file::FileType;
use shared::media::{ObjectStore, video_upload_key};
use tests::app::TestApp;
use tests::caller::{Caller, last_segment};
use tests::figures::{median, print, round};
use tests::function::{Function, peak_kilobytes};
use video_conversion::engine::{ConversionTarget, TimeLeft, convert};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const RUNS: usize = 3;
const UPLOAD: u64 = 500_000_000;
/// Lambda's timeout.
const LIMIT: Duration = Duration::from_secs(900);
/// A plain ffmpeg command for the same mp4.
const ALONE: &str = "-c:v libx264 -preset veryfast -crf 23 -maxrate 2500k -bufsize 5000k -pix_fmt yuv420p -vf scale=1280:720 \
                     -c:a aac -b:a 128k -movflags +faststart";

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> Result<()> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("conversion");
    fs::create_dir_all(&folder)?;
    let outcome = measure(&folder).await;
    fs::remove_dir_all(&folder)?;
    outcome
}

async fn measure(folder: &Path) -> Result<()> {
    let clip = folder.join("clip.mov");
    ffmpeg(
        "-f lavfi -i testsrc2=s=1920x1080:r=30:d=20 -f lavfi -i sine=d=20 -c:v mpeg4 -b:v 12M -c:a pcm_s16le",
        &clip,
    )?;
    times(&clip, ALONE).await?;
    let fits = folder.join("fits.mp4");
    ffmpeg(
        &format!("-i {} -c:v libx264 -preset ultrafast -b:v 6M -pix_fmt yuv420p -c:a aac", clip.display()),
        &fits,
    )?;
    times(&fits, "-c copy -movflags +faststart").await?;
    for (name, from) in [("made anew", &clip), ("passed on", &fits)] {
        let large = folder.join("large.mov");
        // Loops the clip up to the wanted size.
        let looped = format!("-stream_loop -1 -i {} -c copy -fs {UPLOAD}", from.display());
        ffmpeg(&looped, &large)?;
        memory(name, &large).await?;
    }
    Ok(())
}

/// The time of a complete conversion compared with ffmpeg alone.
async fn times(input: &Path, alone: &str) -> Result<()> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let (mut whole, mut plain) = (Vec::new(), Vec::new());
    for _ in 0..RUNS {
        let stopwatch = Stopwatch::start();
        convert(&path, input, ConversionTarget::Video, TimeLeft::whole(LIMIT))
            .await
            .map_err(|failure| format!("{failure:?}"))?;
        whole.push(stopwatch.elapsed().as_secs_f64());
        let stopwatch = Stopwatch::start();
        ffmpeg(&format!("-threads 2 -i {} {alone}", input.display()), &input.with_file_name("alone.mp4"))?;
        plain.push(stopwatch.elapsed().as_secs_f64());
    }
    let (whole, plain) = (median(whole), median(plain));
    print(&json!({
        "figure": "conversion_seconds", "ffmpeg": alone.split_whitespace().nth(1), "value": round(whole),
        "ffmpeg_alone": round(plain), "ratio": round(whole / plain),
    }));
    Ok(())
}

/// The peak memory of the function and of its ffmpeg.
async fn memory(name: &str, input: &Path) -> Result<()> {
    let app = TestApp::start().await;
    let owner = app.owner().await;
    let size = fs::metadata(input)?.len();
    let announced = json!({
        "name": "Large", "upload_filename": "large.mov", "content_type": "video/quicktime", "size": size,
    });
    let video = owner.post("/companies/acme/videos/", announced).await.expect(201).uri("resource_uri");
    let (company, video) = ("acme".parse()?, last_segment(&video).parse()?);
    ObjectStore::of(app.app())?.put_file(&video_upload_key(&company, video), input, FileType::Mp4).await?;
    // The event admits the video, and the outbox queues it.
    let uploaded = video_upload_key(&company, video);
    app.put_event(object_event(&uploaded)).await;
    app.events().deliver_stream().await?;
    let marker = format!("uploads/conversions/acme/{video}");

    let binaries = tests::binaries::build(["--profile", "local", "--package", "video-conversion"]);
    let binary = binaries.get("video-conversion").ok_or("the function was not built")?;
    let mut function = Function::start(tokio::process::Command::new(binary), app.environment()).await?;
    function.ready().await?;
    let id = function.id().ok_or("the function has ended")?;
    let event = object_event(&marker);
    let stopwatch = Stopwatch::start();
    let mut children = 0;
    let invoked = function.invoke_within(&event, LIMIT);
    tokio::pin!(invoked);
    let answer = loop {
        #[expect(clippy::disallowed_methods, reason = "another process goes on in real time")]
        let look = tokio::time::sleep(Duration::from_millis(20));
        tokio::select! {
            answer = &mut invoked => break answer?,
            () = look => children = children.max(peak_of_children(id)),
        }
    };
    let seconds = stopwatch.elapsed().as_secs_f64();
    if answer != "applied" {
        return Err(format!("{name}: {answer}").into());
    }
    print(&json!({
        "figure": "peak_megabytes", "upload": name, "upload_bytes": size, "seconds": round(seconds),
        "function": peak_kilobytes(id) / 1000, "ffmpeg": children / 1000, "sum": (peak_kilobytes(id) + children) / 1000,
    }));
    Ok(())
}

/// EventBridge's event about a new object.
fn object_event(key: &str) -> Value {
    let detail = json!({ "bucket": { "name": "MediaBucket" }, "object": { "key": key } });
    json!({ "id": "bench", "source": "aws.s3", "detail-type": "Object Created", "detail": detail })
}

fn peak_of_children(id: u32) -> u64 {
    let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap_or_default();
    children.split_whitespace().filter_map(|child| child.parse().ok()).map(peak_kilobytes).max().unwrap_or(0)
}

fn ffmpeg(args: &str, output: &Path) -> Result<()> {
    let mut command = Command::new("ffmpeg");
    command.args(["-v", "error", "-y", "-nostdin"]).args(args.split_ascii_whitespace()).arg(output);
    let status = command.stdin(Stdio::null()).status()?;
    if status.success() { Ok(()) } else { Err(format!("ffmpeg {args}: {status}").into()) }
}

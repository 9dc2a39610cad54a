//! The sizes and the colours of pictures, and the filters that make them.

use super::probe::ProbeStream;

pub(super) const ODD_SIZE: &str = "The dimensions of this video are not supported.";
/// The maximum size of re-encoded frames.
pub(super) const MAX_ENCODED: (u32, u32) = (1280, 720);
/// The size of the black picture for sound without a picture.
pub(super) const STILL: (u32, u32) = (640, 360);
/// The minimum side that encoders accept, in pixels.
pub(super) const MIN_SIDE: u32 = 16;
/// The maximum aspect ratio.
const MAX_RATIO: u32 = 20;
/// The longer side of a thumbnail, in pixels.
const THUMBNAIL: u32 = 640;
/// The luminance of white in nits, at which cameras record it (BT.2408).
const WHITE: u32 = 203;
/// Tone mapping keeps luminances up to this fraction of white and compresses everything brighter into the rest.
const KNEE: f64 = 0.7;

/// Whether the video's colours have a high dynamic range: players that do not support it show them grey.
pub(super) fn is_hdr(video: &ProbeStream) -> bool {
    // HLG, as recorded by phones, and PQ.
    ["arib-std-b67", "smpte2084"].contains(&video.color_transfer.as_str())
}

/// The displayed size: upright, with square pixels.
pub(super) fn shown(video: &ProbeStream) -> Result<(u32, u32), &'static str> {
    let width = f64::from(video.width) * video.pixel_ratio();
    let height = f64::from(video.height);
    let width = whole(width);
    let height = whole(height);
    let long = width.max(height);
    let short = width.min(height);
    if short < MIN_SIDE || long > short.saturating_mul(MAX_RATIO) {
        return Err(ODD_SIZE);
    }
    // Phones store an upright video lying, with the rotation that players apply.
    let lies = matches!(whole(video.rotation()), 45..135 | 225..315);
    Ok(if lies { (height, width) } else { (width, height) })
}

/// The largest size with the same aspect ratio that fits into `frame`, upright or lying, without enlarging.
// Encoders need even sides.
pub(super) fn scaled_to_fit(size: (u32, u32), frame: (u32, u32)) -> (u32, u32) {
    let width = f64::from(size.0);
    let height = f64::from(size.1);
    let frame = if width >= height { frame } else { (frame.1, frame.0) };
    let factor = (f64::from(frame.0) / width).min(f64::from(frame.1) / height).min(1.0);
    let [width, height] = [width, height].map(|side| (whole(side * factor) / 2 * 2).max(MIN_SIDE));
    (width, height)
}

/// The filters that scale a video to this size.
pub(super) fn filters(video: &ProbeStream, (width, height): (u32, u32)) -> String {
    // ffmpeg evaluates the expression for every frame size: the size changes when a phone is turned.
    let mut filters = format!(
        "scale=w='max(2,round(min({width},{height}*dar)/2)*2)':h='max(2,round(min({height},{width}/dar)/2)*2)'"
    );
    if is_hdr(video) {
        filters.push_str(&tone_mapping(video));
    }
    // Delete the frames' side data: it holds captions and would declare the luminance of the HDR master.
    filters.push_str(&format!(
        ",format=yuv420p,pad={width}:{height}:(ow-iw)/2:(oh-ih)/2,setsar=1,sidedata=mode=delete"
    ));
    filters
}

/// The filters that convert HDR to BT.709.
// Map tones after scaling: mapping a pixel takes as long as encoding it.
fn tone_mapping(video: &ProbeStream) -> String {
    // zscale cannot convert colours whose primaries or matrix are unknown.
    let primaries = if is_unknown(&video.color_primaries) { ":color_primaries=bt2020" } else { "" };
    let matrix = if is_unknown(&video.color_space) { ":colorspace=bt2020nc" } else { "" };
    format!(
        ",setparams=color_trc={}{primaries}{matrix},zscale=t=linear:npl={WHITE},format=gbrpf32le,zscale=p=bt709,\
         tonemap=mobius:param={KNEE}:desat=0,zscale=t=bt709:m=bt709:r=tv",
        video.color_transfer
    )
}

fn is_unknown(colors: &str) -> bool {
    matches!(colors, "" | "unknown" | "reserved" | "unspecified")
}

/// ffmpeg's arguments for the thumbnail: the most typical frame near the start position of the mp4.
pub(super) fn thumbnail(mp4: &ProbeStream) -> Vec<String> {
    let (width, height) = scaled_to_fit((mp4.width, mp4.height), (THUMBNAIL, THUMBNAIL));
    let mut how = vec!["-vf".to_owned(), format!("scale={width}:{height},thumbnail=50")];
    let rest =
        "-map 0:v:0 -an -frames:v 1 -pix_fmt yuvj420p -q:v 4 -map_metadata -1 -fflags +bitexact -f mjpeg";
    how.extend(rest.split_ascii_whitespace().map(str::to_owned));
    how
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "`as` saturates, which is meant")]
fn whole(number: f64) -> u32 {
    number.round() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_keep_their_shape_and_become_even() {
        for (shown, frame, expected) in [
            ((1920, 1080), MAX_ENCODED, (1280, 720)),
            ((1080, 1920), MAX_ENCODED, (720, 1280)),
            ((641, 481), MAX_ENCODED, (640, 480)),
            ((320, 240), MAX_ENCODED, (320, 240)),
            ((1280, 720), (THUMBNAIL, THUMBNAIL), (640, 360)),
            ((4000, 200), MAX_ENCODED, (1280, 64)),
        ] {
            assert_eq!(scaled_to_fit(shown, frame), expected, "{shown:?}");
        }
    }
}

//! Trimmed films: the file still contains the removed part, and an edit list hides it.

use std::path::Path;

use crate::markers::{beeps, bright_parts, marked};
use crate::recordings::answered;
use crate::support::{Place, converted};

/// Options that make ffmpeg read the hidden part too.
const EVERYTHING: &[&str] = &["-ignore_editlist", "1"];

/// Whether the file contains the bright second. It fills the picture, so a small size suffices.
fn shows(path: &Path, options: &[&str]) -> bool {
    bright_parts(path, (32, 18), options).iter().any(|(_, _, brightest)| *brightest > 128)
}

#[tokio::test]
async fn what_was_cut_off_is_not_passed_on() {
    let place = Place::new();
    // The film is bright and loud in its first second, which is removed.
    let film = marked("320x180", 8.0, 0.4);
    let whole = place.made("whole.mp4", &format!("{film} -c:v libx264 -g 500 -pix_fmt yuv420p -c:a aac"));
    let whole = whole.display();
    for (name, how) in [
        ("trimmed.mp4", "-c copy"),
        ("trimmed.mov", "-c copy"),
        ("fragmented.mp4", "-c copy -movflags frag_keyframe+delay_moov"),
        ("silent.mp4", "-c copy -an"),
    ] {
        let input = place.made(name, &format!("-ss 2 -i {whole} {how}"));
        assert!(shows(&input, EVERYTHING), "{name} holds it");
        for made in [converted(&input).await, answered(&input).await] {
            let made = made.unwrap_or_else(|failure| panic!("{name}: {failure:?}"));
            assert_eq!(made.seconds, 6, "{name}");
            assert!(!shows(&made.mp4, EVERYTHING), "{name}");
            assert!(made.flv.iter().all(|flv| !shows(flv, &[])), "{name}");
            assert!(!shows(&made.thumbnail, &[]), "{name}");
            if name != "silent.mp4" {
                assert_eq!(beeps(&made.mp4, EVERYTHING), [0.0; 0], "{name}");
                assert!(made.flv.iter().all(|flv| beeps(flv, &[]).is_empty()), "{name}");
            }
        }
    }
}

/// The offset of the size field of the first box `name` at or after `from`.
fn box_at(bytes: &[u8], name: &[u8; 4], from: usize) -> Option<usize> {
    bytes[from..].windows(4).position(|window| window == name).map(|at| from + at - 4)
}

fn number_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap())
}

/// Removes the seconds from 2 to 5 of an mp4 of eight seconds whose `moov` follows the pictures.
fn cut_in_the_middle(mut bytes: Vec<u8>) -> Vec<u8> {
    let movie = box_at(&bytes, b"moov", 0).unwrap();
    let second = number_at(&bytes, box_at(&bytes, b"mvhd", movie).unwrap() + 20);
    let lengths = [(b"mvhd", 24), (b"tkhd", 28), (b"tkhd", 28)];
    let mut from = movie;
    for (name, place) in lengths {
        from = box_at(&bytes, name, from + 8).unwrap();
        bytes[from + place..from + place + 4].copy_from_slice(&(5 * second).to_be_bytes());
    }
    let mut track = movie;
    while let Some(found) = box_at(&bytes, b"trak", track + 8) {
        track = found;
        let edits = box_at(&bytes, b"edts", track).unwrap();
        let list = box_at(&bytes, b"elst", edits).unwrap();
        let rate = number_at(&bytes, box_at(&bytes, b"mdhd", list).unwrap() + 20);
        let start = number_at(&bytes, list + 20);
        let edited = [2, 2 * second, start, 0x1_0000, 3 * second, start + 5 * rate, 0x1_0000];
        bytes.splice(list + 12..list + 28, edited.map(u32::to_be_bytes).concat());
        for around in [movie, track, edits, list] {
            let size = number_at(&bytes, around) + 12;
            bytes[around..around + 4].copy_from_slice(&size.to_be_bytes());
        }
    }
    bytes
}

#[tokio::test]
async fn what_was_cut_out_of_the_middle_is_not_passed_on() {
    let place = Place::new();
    // The marker is just before the second part, where players begin to decode.
    let film = marked("320x180", 8.0, 4.4);
    let whole = place.made("whole.mp4", &format!("{film} -c:v libx264 -g 500 -pix_fmt yuv420p -c:a aac"));
    let input = place.written("cut.mp4", cut_in_the_middle(std::fs::read(&whole).unwrap()));
    assert!(shows(&input, EVERYTHING) && !beeps(&input, EVERYTHING).is_empty(), "it holds it");
    for made in [converted(&input).await, answered(&input).await] {
        let made = made.unwrap();
        assert_eq!(made.seconds, 5);
        assert!(!shows(&made.mp4, EVERYTHING) && beeps(&made.mp4, EVERYTHING).is_empty());
        assert!(made.flv.iter().all(|flv| !shows(flv, &[]) && beeps(flv, &[]).is_empty()));
    }
}

use std::fs;

use image::{GrayImage, ImageBuffer, LumaA, Rgb, RgbImage, Rgba, RgbaImage};
use tempfile::TempDir;

use super::*;

const PLENTY: u64 = 1 << 30;

fn folder() -> TempDir {
    tempfile::tempdir().unwrap()
}

/// An oblong image in which no two neighbours agree.
fn gray(width: u32, height: u32) -> GrayImage {
    GrayImage::from_fn(width, height, |x, y| Luma([u8::try_from((x * 37 + y * 101) % 251).unwrap()]))
}

fn encoded(image: &DynamicImage, format: ImageFormat) -> Vec<u8> {
    let mut bytes = Vec::new();
    image.write_to(&mut io::Cursor::new(&mut bytes), format).unwrap();
    bytes
}

fn open_bytes(bytes: &[u8], name: &str) -> Result<Image, ImageError> {
    let folder = folder();
    let path = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    open_layer(&path, PLENTY)
}

#[test]
fn gray_images_are_read_as_they_are_in_every_lossless_format() {
    let picture = gray(7, 5);
    for format in [ImageFormat::Png, ImageFormat::Tiff, ImageFormat::Bmp] {
        let image = open_bytes(&encoded(&picture.clone().into(), format), "picture").unwrap();
        let want = Image { width: 7, height: 5, samples: Samples::U8(picture.as_raw().clone()) };
        assert_eq!(image, want, "{format:?}");
    }
}

#[test]
fn sixteen_bits_stay_sixteen_bits() {
    let picture = ImageBuffer::from_fn(3, 4, |x, y| Luma([u16::try_from(x * 19_001 + y * 257 + 1).unwrap()]));
    for format in [ImageFormat::Png, ImageFormat::Tiff] {
        let image = open_bytes(&encoded(&picture.clone().into(), format), "picture").unwrap();
        let want = Image { width: 3, height: 4, samples: Samples::U16(picture.as_raw().clone()) };
        assert_eq!(image, want, "{format:?}");
    }
}

#[test]
fn colour_becomes_luma_and_what_is_transparent_becomes_black() {
    let samples = |image: DynamicImage| open_bytes(&encoded(&image, ImageFormat::Png), "x").unwrap().samples;
    let colours = RgbImage::from_fn(5, 1, |x, _| {
        Rgb([[255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 255], [10, 200, 90]][x as usize])
    });
    // 0.2126·255 = 54.2, 0.7152·255 = 182.4, 0.0722·255 = 18.4; 2.126 + 143.04 + 6.498 = 151.7.
    assert_eq!(samples(colours.into()), Samples::U8(vec![54, 182, 18, 255, 152]));

    let alpha = RgbaImage::from_fn(3, 1, |x, _| Rgba([200, 200, 200, [255, 128, 0][x as usize]]));
    assert_eq!(samples(alpha.into()), Samples::U8(vec![200, 100, 0]));

    let alpha =
        ImageBuffer::from_fn(2, 1, |x, _| LumaA([[60_000_u16, 65_535], [60_000, 32_768]][x as usize]));
    assert_eq!(samples(alpha.into()), Samples::U16(vec![60_000, 30_000]));
    let wide = ImageBuffer::from_fn(1, 1, |_, _| Rgb([65_535_u16, 0, 1000]));
    // 13932.7 + 72.2.
    assert_eq!(samples(wide.into()), Samples::U16(vec![14_005]));
    let wide = ImageBuffer::from_fn(1, 1, |_, _| Rgba([65_535_u16, 65_535, 65_535, 7]));
    assert_eq!(samples(wide.into()), Samples::U16(vec![7]));
}

#[test]
fn jpeg_is_read_within_its_loss() {
    // Smooth, so that there is little of it.
    let picture = GrayImage::from_fn(40, 24, |x, y| Luma([u8::try_from(3 * x + 4 * y).unwrap()]));
    let image = open_bytes(&encoded(&picture.clone().into(), ImageFormat::Jpeg), "picture").unwrap();
    let Samples::U8(got) = image.samples else { panic!("8 bits") };
    assert_eq!((image.width, image.height), (40, 24));
    assert!(got.iter().zip(picture.as_raw()).all(|(a, b)| a.abs_diff(*b) < 8));
}

/// A progressive JPEG of 16 × 16 gray pixels of one value; the `image` crate writes none.
const PROGRESSIVE: &str = "
    ff d8 ff e0 00 10 4a 46 49 46 00 01 01 00 00 01 00 01 00 00 ff db 00 43
    00 03 02 02 03 02 02 03 03 03 03 04 03 03 04 05 08 05 05 04 04 05 0a 07
    07 06 08 0c 0a 0c 0c 0b 0a 0b 0b 0d 0e 12 10 0d 0e 11 0e 0b 0b 10 16 10
    11 13 14 15 15 15 0c 0f 17 18 16 14 18 12 14 15 14 ff c2 00 0b 08 00 10
    00 10 01 01 11 00 ff c4 00 15 00 01 01 00 00 00 00 00 00 00 00 00 00 00
    00 00 00 00 07 ff da 00 08 01 01 00 00 00 01 af 0f ff c4 00 14 10 01 00
    00 00 00 00 00 00 00 00 00 00 00 00 00 00 20 ff da 00 08 01 01 00 01 05
    02 1f ff c4 00 14 10 01 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00 20
    ff da 00 08 01 01 00 06 3f 02 1f ff c4 00 14 10 01 00 00 00 00 00 00 00
    00 00 00 00 00 00 00 00 20 ff da 00 08 01 01 00 01 3f 21 1f ff da 00 08
    01 01 00 00 00 10 ff 00 ff c4 00 14 10 01 00 00 00 00 00 00 00 00 00 00
    00 00 00 00 00 20 ff da 00 08 01 01 00 01 3f 10 1f ff d9";

fn from_hex(text: &str) -> Vec<u8> {
    text.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect()
}

#[test]
fn the_coefficients_of_a_progressive_jpeg_count() {
    let folder = folder();
    let path = folder.path().join("progressive.jpg");
    let jpeg = from_hex(PROGRESSIVE);
    fs::write(&path, &jpeg).unwrap();
    let needed = 256 + jpeg.len() as u64 + 2 * 256;
    let error = open_layer(&path, needed - 1).unwrap_err();
    assert!(matches!(error, ImageError::TooLarge { needed: Bytes(n), .. } if n == needed), "{error}");
    let image = open_layer(&path, needed).unwrap();
    assert_eq!((image.width, image.height, image.samples), (16, 16, Samples::U8(vec![199; 256])));

    let baseline = encoded(&gray(16, 16).into(), ImageFormat::Jpeg);
    fs::write(&path, &baseline).unwrap();
    assert!(open_layer(&path, 256 + baseline.len() as u64).is_ok());
}

#[test]
fn a_jpegs_header_ends_before_its_pixels_and_is_all_that_is_probed() {
    let coefficients = |jpeg: &[u8]| JpegHeader::read(&mut io::Cursor::new(jpeg)).unwrap().coefficients;
    // Three components of 5 × 300 pixels; then the same cut short.
    let frame = [0xFF, 0xD8, 0xFF, 0xC2, 0, 17, 8, 0, 5, 1, 44, 3];
    assert_eq!(coefficients(&frame), 2 * 3 * 5 * 300);
    assert_eq!(coefficients(&frame[..11]), 0);
    assert_eq!(coefficients(&[]), 0);

    let jpeg = encoded(&gray(64, 48).into(), ImageFormat::Jpeg);
    let header = JpegHeader::read(&mut io::Cursor::new(&jpeg)).unwrap();
    assert!(header.bytes.len() < jpeg.len() && jpeg.starts_with(&header.bytes));
    assert_eq!(header.coefficients, 0);
    let folder = folder();
    let path = folder.path().join("cut.jpg");
    fs::write(&path, &header.bytes).unwrap();
    assert_eq!(probe(&path).unwrap(), (64, 48, 64 * 48));
    assert!(matches!(open_layer(&path, PLENTY).unwrap_err(), ImageError::Damaged { .. }));
}

#[test]
fn the_content_decides_not_the_name() {
    let png = encoded(&gray(4, 4).into(), ImageFormat::Png);
    assert!(open_bytes(&png, "picture.jpg").is_ok());
    let error = open_bytes(b"a list of things to buy: milk, bread", "list.png").unwrap_err();
    assert!(matches!(error, ImageError::NotAnImage { .. }), "{error}");
    assert!(error.to_string().contains("list.png"), "{error}");
    assert!(matches!(open_bytes(b"", "nothing.png").unwrap_err(), ImageError::NotAnImage { .. }));
}

#[test]
fn a_file_cut_short_is_an_error_wherever_it_is_cut() {
    for format in [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::Tiff, ImageFormat::Bmp] {
        for picture in [DynamicImage::from(gray(31, 17)), DynamicImage::from(gray(31, 17)).to_rgb8().into()] {
            let bytes = encoded(&picture, format);
            let whole = open_bytes(&bytes, "whole").unwrap();
            for length in 0..bytes.len() {
                // Only what carries no pixels may be missing.
                if let Ok(image) = open_bytes(&bytes[..length], "cut") {
                    assert!(image == whole, "{format:?} cut to {length} of {}", bytes.len());
                    assert!(length + 16 >= bytes.len(), "{format:?} cut to {length} of {}", bytes.len());
                }
            }
        }
    }
}

#[test]
fn a_jpeg_with_a_preview_inside_is_still_found_cut_short() {
    // The preview's own end marker lies in a segment and must not be taken for the image's.
    let jpeg = encoded(&gray(16, 16).into(), ImageFormat::Jpeg);
    let mut with_preview = jpeg[..2].to_vec();
    with_preview.extend([0xFF, 0xEF]);
    with_preview.extend(u16::try_from(jpeg.len() + 2).unwrap().to_be_bytes());
    with_preview.extend(&jpeg);
    with_preview.extend(&jpeg[2..]);
    assert!(open_bytes(&with_preview, "whole").is_ok());
    let error = open_bytes(&with_preview[..with_preview.len() - 20], "cut").unwrap_err();
    assert!(matches!(error, ImageError::Damaged { .. }), "{error}");
}

#[test]
fn missing_files_and_folders_are_named() {
    let folder = folder();
    let error = open_layer(&folder.path().join("gone.png"), PLENTY).unwrap_err();
    assert!(matches!(error, ImageError::Read { .. }) && error.to_string().contains("gone.png"), "{error}");
    let error = open_layer(folder.path(), PLENTY).unwrap_err();
    assert!(matches!(error, ImageError::Folder { .. }), "{error}");
}

#[test]
fn an_image_larger_than_memory_is_refused_before_it_is_decoded() {
    let folder = folder();
    let path = folder.path().join("large.png");
    let picture = DynamicImage::from(gray(300, 200)).to_rgb8();
    fs::write(&path, encoded(&picture.into(), ImageFormat::Png)).unwrap();
    let error = open_layer(&path, 179_999).unwrap_err();
    assert!(matches!(error, ImageError::TooLarge { width: 300, height: 200, .. }), "{error}");
    assert!(error.to_string().contains("`memory`"), "{error}");
    assert!(open_layer(&path, 180_000).is_ok());
    // The layer itself is a third of it.
    assert_eq!(probe(&path).unwrap(), (300, 200, 60_000));
}

#[test]
fn a_header_that_claims_billions_of_pixels_costs_nothing() {
    let mut png = encoded(&gray(4, 4).into(), ImageFormat::Png);
    // Width and height in IHDR, then its checksum.
    png[16..24].copy_from_slice(&[0x7F, 0xFF, 0xFF, 0xFF, 0x7F, 0xFF, 0xFF, 0xFF]);
    let sum = crc(&png[12..29]);
    png[29..33].copy_from_slice(&sum.to_be_bytes());
    let error = open_bytes(&png, "bomb.png").unwrap_err();
    assert!(matches!(error, ImageError::TooLarge { .. } | ImageError::Damaged { .. }), "{error}");
}

/// CRC-32 as PNG has it.
fn crc(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(!0, |sum, &byte| {
        (0..8).fold(sum ^ u32::from(byte), |s, _| if s & 1 == 1 { s >> 1 ^ 0xEDB8_8320 } else { s >> 1 })
    })
}

#[test]
fn an_image_without_pixels_is_refused() {
    let mut png = encoded(&gray(4, 4).into(), ImageFormat::Png);
    png[16..20].fill(0);
    let sum = crc(&png[12..29]);
    png[29..33].copy_from_slice(&sum.to_be_bytes());
    assert!(open_bytes(&png, "empty.png").is_err());
    let mut bmp = encoded(&gray(4, 4).into(), ImageFormat::Bmp);
    bmp[18..22].fill(0);
    assert!(open_bytes(&bmp, "empty.bmp").is_err());
}

#[test]
fn float_samples_are_refused_with_the_remedy() {
    let float = ImageBuffer::from_fn(2, 2, |_, _| Rgb([0.5_f32, 0.25, 1.0]));
    let error = open_bytes(&encoded(&float.into(), ImageFormat::Tiff), "float.tif").unwrap_err();
    assert!(matches!(error, ImageError::Unsupported { .. }), "{error}");
    assert!(error.to_string().contains("16-bit PNG"), "{error}");
}

#[test]
fn a_photograph_is_turned_upright() {
    // A TIFF whose orientation tag says that row 0 is the right side (6).
    let picture = gray(3, 2);
    let mut tiff = encoded(&picture.clone().into(), ImageFormat::Tiff);
    let at = u32::from_le_bytes(tiff[4..8].try_into().unwrap()) as usize;
    let entries = u16::from_le_bytes(tiff[at..at + 2].try_into().unwrap());
    // A copy of the directory with one entry more, behind the file; entries are sorted by tag.
    let end = tiff.len();
    let mut entry: Vec<[u8; 12]> =
        tiff[at + 2..].chunks(12).take(entries.into()).map(|e| e.try_into().unwrap()).collect();
    entry.push([0x12, 0x01, 3, 0, 1, 0, 0, 0, 6, 0, 0, 0]);
    entry.sort_by_key(|e| u16::from_le_bytes([e[0], e[1]]));
    tiff.extend((entries + 1).to_le_bytes());
    tiff.extend(entry.concat());
    tiff.extend([0; 4]);
    tiff[4..8].copy_from_slice(&u32::try_from(end).unwrap().to_le_bytes());

    let folder = folder();
    let path = folder.path().join("photo.tif");
    fs::write(&path, tiff).unwrap();
    assert_eq!(probe(&path).unwrap(), (2, 3, 6));
    let image = open_layer(&path, PLENTY).unwrap();
    let p = |x, y| picture.get_pixel(x, y).0[0];
    // Clockwise by a quarter turn: the first row is the first column from below.
    let want = vec![p(0, 1), p(0, 0), p(1, 1), p(1, 0), p(2, 1), p(2, 0)];
    assert_eq!(image, Image { width: 2, height: 3, samples: Samples::U8(want) });
}

#[test]
fn a_saved_image_reads_back_the_same() {
    let folder = folder();
    let path = folder.path().join("saved.png");
    let picture = gray(13, 9);
    save_gray_png(&path, 13, 9, picture.as_raw(), false).unwrap();
    let want = Image { width: 13, height: 9, samples: Samples::U8(picture.into_raw()) };
    assert_eq!(open_layer(&path, PLENTY).unwrap(), want);
    let error = save_gray_png(&folder.path().join("no/such.png"), 1, 1, &[0], false).unwrap_err();
    assert!(matches!(error, ImageError::Write { .. }), "{error}");
    assert!(matches!(save_gray_png(&path, 0, 4, &[], false).unwrap_err(), ImageError::Empty { .. }));
}

#[test]
fn a_file_is_replaced_only_when_that_is_allowed_and_nothing_else_is_left() {
    let folder = folder();
    let path = folder.path().join("saved.png");
    fs::write(&path, "precious").unwrap();
    let error = save_gray_png(&path, 2, 1, &[7, 9], false).unwrap_err();
    assert!(matches!(error, ImageError::Exists { .. }), "{error}");
    assert_eq!(fs::read(&path).unwrap(), b"precious");
    // A folder in the way cannot be replaced by a file.
    let taken = folder.path().join("taken.png");
    fs::create_dir_all(taken.join("full")).unwrap();
    assert!(save_gray_png(&taken, 2, 1, &[7, 9], true).is_err());
    save_gray_png(&path, 2, 1, &[7, 9], true).unwrap();
    assert_eq!(open_layer(&path, PLENTY).unwrap().samples, Samples::U8(vec![7, 9]));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "the image and the folder");
}

#[cfg(unix)]
#[test]
fn a_saved_image_may_be_read_by_whoever_may_read_other_files() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = folder();
    let mode = |name: &str| fs::metadata(folder.path().join(name)).unwrap().permissions().mode();
    fs::write(folder.path().join("other"), "").unwrap();
    save_gray_png(&folder.path().join("saved.png"), 1, 1, &[0], false).unwrap();
    assert_eq!(mode("saved.png"), mode("other"));
}

#[test]
fn thumbnails_keep_proportions_and_mean_and_never_enlarge() {
    let folder = folder();
    let path = folder.path().join("wide.png");
    let picture = ImageBuffer::from_fn(400, 100, |x, _| Luma([if x < 200 { 0 } else { 51_400_u16 }]));
    fs::write(&path, encoded(&picture.into(), ImageFormat::Png)).unwrap();
    let small = thumbnail(&path, 40, PLENTY).unwrap();
    assert_eq!((small.width, small.height), (40, 10));
    let Samples::U8(v) = &small.samples else { panic!("8 bits") };
    for row in v.chunks(40) {
        assert!(row[..20].iter().all(|&v| v == 0) && row[20..].iter().all(|&v| v == 200), "{row:?}");
    }
    let same = thumbnail(&path, 4000, PLENTY).unwrap();
    assert_eq!((same.width, same.height), (400, 100));
}

#[test]
fn sixteen_bits_are_rounded_to_eight_for_display() {
    assert_eq!([0, 128, 129, 257, 65_406, 65_407, 65_535].map(to_8_bits), [0, 0, 1, 1, 254, 255, 255]);
}

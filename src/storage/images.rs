//! Image files: layers in, previews out.
//!
//! A layer needs one number per pixel. Colour becomes luma, `0.2126 R + 0.7152 G + 0.0722 B` of the
//! values as the file holds them (not of the light they stand for), and what is transparent shows
//! the black behind it. 16 bits stay 16 bits. A photograph is turned upright as its camera noted.
//! The format is recognized by the content; the file's name says nothing.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use image::codecs::png::PngEncoder;
use image::metadata::Orientation;
use image::{
    ColorType, DynamicImage, ExtendedColorType, ImageBuffer, ImageDecoder, ImageEncoder, ImageFormat,
    ImageReader, Luma,
};

use crate::optics::{Bytes, Image, Samples};

/// An image file that cannot be read or written, with the remedy.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    /// The file is missing, or the system does not let it be read.
    #[error("{path}: cannot read the image: {source}; check the path")]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The path is a folder's.
    #[error("{path}: this is a folder; name an image file in it")]
    Folder {
        /// The folder.
        path: PathBuf,
    },
    /// The content is of no known image format.
    #[error("{path}: this is not an image that can be read; use PNG, JPEG, TIFF or BMP")]
    NotAnImage {
        /// The file.
        path: PathBuf,
    },
    /// The image begins well but cannot be decoded to its end.
    #[error("{path}: the image is damaged or cut short ({problem}); copy it again or save it anew")]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What the decoder met.
        problem: String,
    },
    /// The image has no pixels, or a size that does not match its content.
    #[error("{path}: an image of {width} × {height} pixels cannot be used; it needs at least one pixel")]
    Empty {
        /// The file.
        path: PathBuf,
        /// Pixels along x.
        width: usize,
        /// Pixels along y.
        height: usize,
    },
    /// Decoding would take more memory than allowed.
    #[error(
        "{path}: decoding {width} × {height} pixels takes about {needed}, and {limit} of `memory` are \
         left for it; raise `memory` or make the image smaller"
    )]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Pixels along x.
        width: usize,
        /// Pixels along y.
        height: usize,
        /// Memory that decoding takes.
        needed: Bytes,
        /// Memory allowed.
        limit: Bytes,
    },
    /// A kind of image, or of samples, that is not read.
    #[error("{path}: {problem}; save it as an 8-bit or 16-bit PNG")]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// What is not read.
        problem: String,
    },
    /// The image cannot be written.
    #[error("{path}: cannot write the image: {source}")]
    Write {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        source: io::Error,
    },
}

impl ImageError {
    /// The decoder's error as ours.
    fn from_decoder(path: &Path, error: image::ImageError) -> Self {
        let path = path.to_path_buf();
        match error {
            // Decoders report broken content as an I/O error too; what the system says has a number.
            image::ImageError::IoError(source) if source.raw_os_error().is_some() => {
                Self::Read { path, source }
            }
            image::ImageError::Unsupported(error) => Self::Unsupported { path, problem: error.to_string() },
            error => Self::Damaged { path, problem: error.to_string() },
        }
    }
}

/// Opens the image `path` as a layer: one value per pixel, 8 or 16 bits as in the file.
///
/// `memory_limit` bounds the bytes that decoding may take. Decoding colour takes three or four times,
/// and some files twice, what the layer holds afterwards; [`probe`] tells the latter.
pub fn open_layer(path: &Path, memory_limit: u64) -> Result<Image, ImageError> {
    let header = Header::read(path)?;
    let (width, height, orientation) = (header.width, header.height, header.orientation);
    let decoded = header.decode(path, memory_limit)?;
    let mut gray = match decoded {
        DynamicImage::ImageLuma8(_) | DynamicImage::ImageLuma16(_) => decoded,
        DynamicImage::ImageLumaA8(v) => gray8(width, height, to_gray::<2, _>(v.into_raw(), u8::MAX)),
        DynamicImage::ImageRgb8(v) => gray8(width, height, to_gray::<3, _>(v.into_raw(), u8::MAX)),
        DynamicImage::ImageRgba8(v) => gray8(width, height, to_gray::<4, _>(v.into_raw(), u8::MAX)),
        DynamicImage::ImageLumaA16(v) => gray16(width, height, to_gray::<2, _>(v.into_raw(), u16::MAX)),
        DynamicImage::ImageRgb16(v) => gray16(width, height, to_gray::<3, _>(v.into_raw(), u16::MAX)),
        DynamicImage::ImageRgba16(v) => gray16(width, height, to_gray::<4, _>(v.into_raw(), u16::MAX)),
        _ => return Err(unsupported_samples(path)),
    };
    gray.apply_orientation(orientation);
    let (width, height) = (gray.width() as usize, gray.height() as usize);
    let samples = match gray {
        DynamicImage::ImageLuma8(v) => Samples::U8(v.into_raw()),
        DynamicImage::ImageLuma16(v) => Samples::U16(v.into_raw()),
        _ => return Err(unsupported_samples(path)),
    };
    Ok(Image { width, height, samples })
}

/// Width and height of the image `path`, and the bytes it holds in memory once opened as a layer;
/// from the header alone.
///
/// (JPEG and PNG files are not checked further; whether the pixels can be decoded shows later.)
pub fn probe(path: &Path) -> Result<(usize, usize, u64), ImageError> {
    let header = Header::read(path)?;
    let (width, height) =
        if header.turned() { (header.height, header.width) } else { (header.width, header.height) };
    Ok((width, height, header.gray_bytes()))
}

/// The image `path` as 8-bit gray no larger than `max_side` along either side, for display.
///
/// `memory_limit` bounds the bytes that decoding may take, as in [`open_layer`].
pub fn thumbnail(path: &Path, max_side: usize, memory_limit: u64) -> Result<Image, ImageError> {
    let image = open_layer(path, memory_limit)?;
    let (width, height) = (image.width, image.height);
    let long = width.max(height);
    // Rounded, but never to nothing.
    let small = |side: usize| if long <= max_side { side } else { (side * max_side + long / 2) / long };
    let (small_width, small_height) = (small(width).max(1), small(height).max(1));
    let samples = match image.samples {
        Samples::U8(v) => v,
        Samples::U16(v) => v.into_iter().map(to_8_bits).collect(),
    };
    let samples = if (small_width, small_height) == (width, height) {
        samples
    } else {
        let full = gray8(width, height, samples);
        full.thumbnail_exact(side(small_width), side(small_height)).into_luma8().into_raw()
    };
    Ok(Image { width: small_width, height: small_height, samples: Samples::U8(samples) })
}

/// Writes `height × width` gray values as a PNG; row 0 is the top.
///
/// # Panics
/// If `pixels` are not `width · height` in number.
pub fn save_gray_png(path: &Path, width: usize, height: usize, pixels: &[u8]) -> Result<(), ImageError> {
    assert_eq!(pixels.len(), width * height, "width · height pixels");
    let failed = |source| ImageError::Write { path: path.into(), source };
    let (Ok(wide), Ok(high)) = (u32::try_from(width), u32::try_from(height)) else {
        return Err(ImageError::Empty { path: path.into(), width, height });
    };
    if wide == 0 || high == 0 {
        return Err(ImageError::Empty { path: path.into(), width, height });
    }
    let mut file = BufWriter::new(File::create(path).map_err(failed)?);
    PngEncoder::new(&mut file).write_image(pixels, wide, high, ExtendedColorType::L8).map_err(|error| {
        match error {
            image::ImageError::IoError(source) => failed(source),
            error => failed(io::Error::other(error)),
        }
    })?;
    file.flush().map_err(failed)
}

/// The error of an image whose samples are of no use here.
fn unsupported_samples(path: &Path) -> ImageError {
    ImageError::Unsupported {
        path: path.into(),
        problem: "samples other than whole numbers of 8 or 16 bits are not read".into(),
    }
}

/// A side of an image that came from this crate's `u32` sizes.
fn side(pixels: usize) -> u32 {
    u32::try_from(pixels).unwrap_or(u32::MAX)
}

/// Gray pixels as the `image` crate's kind.
fn gray8(width: usize, height: usize, pixels: Vec<u8>) -> DynamicImage {
    ImageBuffer::<Luma<u8>, _>::from_raw(side(width), side(height), pixels).unwrap_or_default().into()
}

/// The same in 16 bits.
fn gray16(width: usize, height: usize, pixels: Vec<u16>) -> DynamicImage {
    ImageBuffer::<Luma<u16>, _>::from_raw(side(width), side(height), pixels).unwrap_or_default().into()
}

/// The nearest 8-bit value of the same brightness.
fn to_8_bits(v: u16) -> u8 {
    u8::try_from((u32::from(v) + 128) / 257).unwrap_or(u8::MAX)
}

/// Gray values of pixels of `N` channels from 0 to `white`: luma where there are colours, over black
/// where there is alpha (2 and 4 channels). In place: no second image is held.
fn to_gray<const N: usize, T>(mut pixels: Vec<T>, white: T) -> Vec<T>
where
    T: Copy + Into<u64> + TryFrom<u64>,
{
    let count = pixels.len() / N;
    for i in 0..count {
        let mut pixel = [0; N];
        for (channel, &v) in pixel.iter_mut().zip(&pixels[i * N..]) {
            *channel = v.into();
        }
        // Weights of ITU-R BT.709 in ten-thousandths; one rounding at the end.
        let luma = if N < 3 { 10_000 * pixel[0] } else { 2126 * pixel[0] + 7152 * pixel[1] + 722 * pixel[2] };
        let (numerator, denominator) =
            if N.is_multiple_of(2) { (luma * pixel[N - 1], 10_000 * white.into()) } else { (luma, 10_000) };
        pixels[i] = T::try_from((numerator + denominator / 2) / denominator).unwrap_or(white);
    }
    pixels.truncate(count);
    pixels.shrink_to_fit();
    pixels
}

/// What an image file's header says, and the decoder behind it.
struct Header {
    decoder: Box<dyn ImageDecoder>,
    orientation: Orientation,
    /// Pixels along x, before the image is turned upright.
    width: usize,
    /// Pixels along y, likewise.
    height: usize,
    /// What decoding takes besides the decoded pixels.
    extra_bytes: u64,
}

impl Header {
    /// Reads the header of `path`, and refuses what cannot be used whatever memory there is.
    fn read(path: &Path) -> Result<Self, ImageError> {
        let (file, format) = open(path)?;
        let file_bytes = file.get_ref().metadata().map_or(0, |m| m.len());
        // The default limits, for text and colour profiles in the header.
        let reader = ImageReader::with_format(file, format);
        let decoder = reader.into_decoder().map_err(|error| ImageError::from_decoder(path, error))?;
        let mut decoder: Box<dyn ImageDecoder> = Box::new(decoder);

        let (width, height) = decoder.dimensions();
        let (width, height) = (width as usize, height as usize);
        if width == 0 || height == 0 {
            return Err(ImageError::Empty { path: path.into(), width, height });
        }
        let color = decoder.color_type();
        if matches!(color, ColorType::Rgb32F | ColorType::Rgba32F) {
            return Err(unsupported_samples(path));
        }
        // A picture without a usable note of its orientation is upright.
        let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
        let mut header = Self { decoder, orientation, width, height, extra_bytes: 0 };
        header.extra_bytes = match format {
            // The decoder holds the whole file, or the pixels twice.
            ImageFormat::Jpeg => file_bytes,
            ImageFormat::Tiff => header.decoder.total_bytes(),
            _ => 0,
        };
        if orientation != Orientation::NoTransforms {
            header.extra_bytes = header.extra_bytes.max(header.gray_bytes());
        }
        Ok(header)
    }

    /// Whether turning the image upright exchanges its width and its height.
    const fn turned(&self) -> bool {
        matches!(
            self.orientation,
            Orientation::Rotate90
                | Orientation::Rotate270
                | Orientation::Rotate90FlipH
                | Orientation::Rotate270FlipH
        )
    }

    /// Bytes of the image with one channel.
    fn gray_bytes(&self) -> u64 {
        self.decoder.total_bytes() / u64::from(self.decoder.color_type().channel_count())
    }

    /// Decodes the pixels, if `memory_limit` bytes suffice.
    fn decode(mut self, path: &Path, memory_limit: u64) -> Result<DynamicImage, ImageError> {
        let pixel_bytes = self.decoder.total_bytes();
        let needed = pixel_bytes.saturating_add(self.extra_bytes);
        let too_large = |needed| ImageError::TooLarge {
            path: path.into(),
            width: self.width,
            height: self.height,
            needed: Bytes(needed),
            limit: Bytes(memory_limit),
        };
        if needed > memory_limit {
            return Err(too_large(needed));
        }
        let mut limits = image::Limits::no_limits();
        limits.max_alloc = Some(memory_limit - pixel_bytes);
        let decoded = self.decoder.set_limits(limits).and_then(|()| DynamicImage::from_decoder(self.decoder));
        decoded.map_err(|error| match error {
            // The decoder works in more memory than was foreseen; how much, it does not say.
            image::ImageError::Limits(_) => too_large(needed.max(memory_limit).saturating_add(pixel_bytes)),
            error => ImageError::from_decoder(path, error),
        })
    }
}

/// Opens `path` and finds its format; the reader stands at the file's beginning.
fn open(path: &Path) -> Result<(BufReader<File>, ImageFormat), ImageError> {
    let failed = |source| ImageError::Read { path: path.into(), source };
    let file = File::open(path).map_err(|source| {
        // Windows does not even open a folder.
        if path.is_dir() { ImageError::Folder { path: path.into() } } else { failed(source) }
    })?;
    if file.metadata().map_err(failed)?.is_dir() {
        return Err(ImageError::Folder { path: path.into() });
    }
    let reader = ImageReader::new(BufReader::new(file)).with_guessed_format().map_err(failed)?;
    let format = reader.format().ok_or_else(|| ImageError::NotAnImage { path: path.into() })?;
    let mut file = reader.into_inner();
    // The decoder fills up a JPEG that was cut short with gray, and says nothing.
    if format == ImageFormat::Jpeg && !jpeg_has_an_end(&mut file).map_err(failed)? {
        return Err(ImageError::Damaged { path: path.into(), problem: "its end is missing".into() });
    }
    file.rewind().map_err(failed)?;
    Ok((file, format))
}

/// Whether the marker of the image's end comes after all its segments (ITU-T T.81, annex B).
fn jpeg_has_an_end(file: &mut (impl BufRead + Seek)) -> io::Result<bool> {
    file.seek(SeekFrom::Start(2))?;
    loop {
        // To the next marker: 0xFF and a code. In entropy-coded data 0xFF 0x00 stands for a byte.
        if file.skip_until(0xFF)? == 0 {
            return Ok(false);
        }
        let mut code = [0xFF];
        while code == [0xFF] {
            if file.read(&mut code)? == 0 {
                return Ok(false);
            }
        }
        match code[0] {
            0xD9 => return Ok(true),
            // Stuffing, restart markers and the like stand alone.
            0x00 | 0x01 | 0xD0..=0xD8 => {}
            _ => {
                let mut length = [0; 2];
                if file.read(&mut length[..1])? == 0 || file.read(&mut length[1..])? == 0 {
                    return Ok(false);
                }
                file.seek_relative((i64::from(u16::from_be_bytes(length)) - 2).max(0))?;
            }
        }
    }
}

#[cfg(test)]
mod tests {
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
        let picture =
            ImageBuffer::from_fn(3, 4, |x, y| Luma([u16::try_from(x * 19_001 + y * 257 + 1).unwrap()]));
        for format in [ImageFormat::Png, ImageFormat::Tiff] {
            let image = open_bytes(&encoded(&picture.clone().into(), format), "picture").unwrap();
            let want = Image { width: 3, height: 4, samples: Samples::U16(picture.as_raw().clone()) };
            assert_eq!(image, want, "{format:?}");
        }
    }

    #[test]
    fn colour_becomes_luma_and_what_is_transparent_becomes_black() {
        let samples =
            |image: DynamicImage| open_bytes(&encoded(&image, ImageFormat::Png), "x").unwrap().samples;
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
            for picture in
                [DynamicImage::from(gray(31, 17)), DynamicImage::from(gray(31, 17)).to_rgb8().into()]
            {
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
        assert!(
            matches!(error, ImageError::Read { .. }) && error.to_string().contains("gone.png"),
            "{error}"
        );
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
        save_gray_png(&path, 13, 9, picture.as_raw()).unwrap();
        let want = Image { width: 13, height: 9, samples: Samples::U8(picture.into_raw()) };
        assert_eq!(open_layer(&path, PLENTY).unwrap(), want);
        let error = save_gray_png(&folder.path().join("no/such.png"), 1, 1, &[0]).unwrap_err();
        assert!(matches!(error, ImageError::Write { .. }), "{error}");
        assert!(matches!(save_gray_png(&path, 0, 4, &[]).unwrap_err(), ImageError::Empty { .. }));
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
}

//! Image files: layers in, previews out.
//!
//! A layer needs one number per pixel. Colour becomes luma, `0.2126 R + 0.7152 G + 0.0722 B` of the
//! values as the file holds them (not of the light they stand for), and what is transparent shows
//! the black behind it. 16 bits stay 16 bits. A photograph is turned upright as its camera noted.
//! The format is recognized by the content; the file's name says nothing.

use std::ffi::OsString;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, Cursor, Read, Seek, SeekFrom, Write};
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
    /// A file has the name of the image to be written.
    #[error("{path}: the file exists and is kept; choose another name, or allow it to be replaced")]
    Exists {
        /// The file.
        path: PathBuf,
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
    let orientation = header.orientation;
    let decoded = header.decode(path, memory_limit)?;
    let (width, height) = (decoded.width() as usize, decoded.height() as usize);
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
/// Whether the pixels can be decoded, and whether the file is whole, shows when it is opened.
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
/// The file has its name only once it is complete. One that exists is kept, which is an error,
/// unless `replace` is set; on an error nothing new is left behind.
///
/// # Panics
/// If `pixels` are not `width · height` in number.
pub fn save_gray_png(
    path: &Path,
    width: usize,
    height: usize,
    pixels: &[u8],
    replace: bool,
) -> Result<(), ImageError> {
    assert_eq!(pixels.len(), width * height, "width · height pixels");
    let failed = |source: io::Error| {
        if source.kind() == io::ErrorKind::AlreadyExists {
            ImageError::Exists { path: path.into() }
        } else {
            ImageError::Write { path: path.into(), source }
        }
    };
    let (Ok(wide), Ok(high)) = (u32::try_from(width), u32::try_from(height)) else {
        return Err(ImageError::Empty { path: path.into(), width, height });
    };
    if wide == 0 || high == 0 {
        return Err(ImageError::Empty { path: path.into(), width, height });
    }
    let unfinished = unfinished(path).map_err(failed)?;
    let mut file = BufWriter::new(unfinished.as_file());
    PngEncoder::new(&mut file).write_image(pixels, wide, high, ExtendedColorType::L8).map_err(|error| {
        match error {
            image::ImageError::IoError(source) => failed(source),
            error => failed(io::Error::other(error)),
        }
    })?;
    file.flush().map_err(failed)?;
    drop(file);
    let named = if replace { unfinished.persist(path) } else { unfinished.persist_noclobber(path) };
    named.map(drop).map_err(|error| failed(error.error))
}

/// A hidden file beside `path`, removed unless it is given its name.
fn unfinished(path: &Path) -> io::Result<tempfile::NamedTempFile> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut prefix = OsString::from(".");
    prefix.push(path.file_name().unwrap_or_default());
    prefix.push("-unfinished-");
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix);
    // As any file the user makes; temporary files are private otherwise.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder.unwrap_or(Path::new(".")))
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
    format: ImageFormat,
    /// Of a JPEG it has the header only.
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
        let (mut file, format) = open(path)?;
        let file_bytes = file.get_ref().metadata().map_or(0, |m| m.len());
        let mut coefficients = 0;
        let mut decoder = if format == ImageFormat::Jpeg {
            let header = JpegHeader::read(&mut file)
                .map_err(|source| ImageError::Read { path: path.into(), source })?;
            coefficients = header.coefficients;
            decoder_of(path, Cursor::new(header.bytes), format)?
        } else {
            decoder_of(path, file, format)?
        };

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
        let mut header = Self { format, decoder, orientation, width, height, extra_bytes: 0 };
        header.extra_bytes = match format {
            // The decoder holds the whole file, or the pixels twice.
            ImageFormat::Jpeg => file_bytes + coefficients,
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
        if self.format == ImageFormat::Jpeg {
            self.decoder = whole_jpeg(path)?;
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
    file.rewind().map_err(failed)?;
    Ok((file, format))
}

/// The decoder of `file`'s content, which is in `format`.
fn decoder_of(
    path: &Path,
    file: impl BufRead + Seek + 'static,
    format: ImageFormat,
) -> Result<Box<dyn ImageDecoder>, ImageError> {
    // The default limits, for text and colour profiles in the header.
    let reader = ImageReader::with_format(file, format);
    let decoder = reader.into_decoder().map_err(|error| ImageError::from_decoder(path, error))?;
    Ok(Box::new(decoder))
}

/// The decoder of the JPEG `path`, which must not be cut short.
fn whole_jpeg(path: &Path) -> Result<Box<dyn ImageDecoder>, ImageError> {
    let failed = |source| ImageError::Read { path: path.into(), source };
    let (mut file, format) = open(path)?;
    // The decoder fills up a JPEG that was cut short with gray, and says nothing.
    if !jpeg_has_an_end(&mut file).map_err(failed)? {
        return Err(ImageError::Damaged { path: path.into(), problem: "its end is missing".into() });
    }
    file.rewind().map_err(failed)?;
    decoder_of(path, file, format)
}

/// What comes before a JPEG's pixels (ITU-T T.81, annex B).
struct JpegHeader {
    /// The file up to its first pixels.
    bytes: Vec<u8>,
    /// Bytes of the coefficients that the decoder of a progressive image holds: two for each
    /// sample, of all its components at once. Of other images it holds those of a few lines.
    coefficients: u64,
}

impl JpegHeader {
    fn read(file: &mut (impl BufRead + Seek)) -> io::Result<Self> {
        file.seek(SeekFrom::Start(2))?;
        let (mut end, mut coefficients) = (u64::MAX, 0);
        while let Some(code) = next_marker(file)? {
            let Some(length) = segment_length(file)? else { break };
            let start = file.stream_position()?;
            // The beginning of a scan; the marker of the end cannot come before one.
            if code == 0xDA {
                end = start + u64::from(length);
                break;
            }
            let mut frame = [0; 6];
            if let 0xC2 | 0xC6 | 0xCA | 0xCE = code
                && file.read_exact(&mut frame).is_ok()
            {
                // Bits, height, width, components.
                let [_, h1, h0, w1, w0, components] = frame.map(u64::from);
                coefficients = 2 * components * (h1 << 8 | h0) * (w1 << 8 | w0);
            }
            file.seek(SeekFrom::Start(start + u64::from(length)))?;
        }
        file.rewind()?;
        let mut bytes = Vec::new();
        file.by_ref().take(end).read_to_end(&mut bytes)?;
        Ok(Self { bytes, coefficients })
    }
}

/// Whether the marker of the image's end comes after all its segments (ITU-T T.81, annex B).
fn jpeg_has_an_end(file: &mut (impl BufRead + Seek)) -> io::Result<bool> {
    file.seek(SeekFrom::Start(2))?;
    while let Some(code) = next_marker(file)? {
        if code == 0xD9 {
            return Ok(true);
        }
        let Some(length) = segment_length(file)? else { break };
        file.seek_relative(length.into())?;
    }
    Ok(false)
}

/// The code of the next marker that does not stand alone, and the place behind it.
fn next_marker(file: &mut impl BufRead) -> io::Result<Option<u8>> {
    // To 0xFF and a code. In entropy-coded data 0xFF 0x00 stands for a byte.
    while file.skip_until(0xFF)? > 0 {
        let mut code = Some(0xFF);
        while code == Some(0xFF) {
            code = file.by_ref().bytes().next().transpose()?;
        }
        // Stuffing, restart markers and the like.
        if !matches!(code, Some(0x00 | 0x01 | 0xD0..=0xD8)) {
            return Ok(code);
        }
    }
    Ok(None)
}

/// Bytes of the segment behind a marker, without the two that tell its length.
fn segment_length(file: &mut impl BufRead) -> io::Result<Option<u16>> {
    let mut length = [0; 2];
    match file.read_exact(&mut length) {
        Ok(()) => Ok(Some(u16::from_be_bytes(length).saturating_sub(2))),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error),
    }
}

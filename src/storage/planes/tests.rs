//! Written containers, read by the decoders of the `image` and `tiff` crates and by this module.

use std::path::PathBuf;

use super::*;
use crate::storage::{MemoryStore, Store as _};

/// A plane of bytes in `container`, as the engine writes it.
fn written(folder: &Path, container: Container, height: usize, width: usize) -> (PathBuf, Vec<u8>) {
    let pixels: Vec<u8> = (0..height * width).map(|i| u8::try_from(i * i * 31 % 251).unwrap()).collect();
    let header = PlaneHeader::new(container, height, width, Element::Phase8);
    let mut bytes = header.encode();
    for line in pixels.chunks(width) {
        bytes.extend_from_slice(line);
        bytes.resize(bytes.len() + header.line_bytes - width, 0);
    }
    assert_eq!(bytes.len() as u64, header.file_bytes());
    let path = folder.join("plane").with_extension(["npy", "tif", "bmp", "png"][container as usize]);
    if header.is_packed() {
        let file = std::fs::File::create(&path).unwrap();
        assert!(header.pack(&MemoryStore::new(&bytes), &file, &path, || false).unwrap());
    } else {
        std::fs::write(&path, bytes).unwrap();
    }
    (path, pixels)
}

const SIZES: [(usize, usize); 6] = [(21, 37), (37, 21), (5, 40), (1, 1), (3, 2), (700, 3001)];

#[test]
fn pictures_are_read_by_other_decoders_pixel_by_pixel() {
    let folder = tempfile::tempdir().unwrap();
    for container in [Container::Tiff, Container::Bmp, Container::Png] {
        for (height, width) in SIZES {
            let (path, pixels) = written(folder.path(), container, height, width);
            let image = image::open(&path).unwrap();
            assert_eq!((image.width() as usize, image.height() as usize), (width, height), "{container}");
            assert!(image.to_luma8().into_raw() == pixels, "{container} {width} × {height}");
            if container != Container::Bmp {
                assert_eq!(image.color(), image::ColorType::L8);
            }
        }
    }
}

#[test]
fn pictures_are_read_back_in_place_or_unpacked() {
    let folder = tempfile::tempdir().unwrap();
    for container in [Container::Npy, Container::Tiff, Container::Bmp, Container::Png] {
        for (height, width) in SIZES {
            let (path, pixels) = written(folder.path(), container, height, width);
            let header = PlaneHeader::read(&path, Some(Encoding::Phase8)).unwrap();
            assert_eq!(header, PlaneHeader::new(container, height, width, Element::Phase8));
            let bytes = if header.is_packed() {
                let store = MemoryStore::default();
                store.allocate(header.file_bytes()).unwrap();
                assert!(header.unpack(&path, &store, || false).unwrap());
                store.bytes()
            } else {
                std::fs::read(&path).unwrap()[usize::try_from(header.data_offset).unwrap()..].to_vec()
            };
            let lines = bytes.chunks(header.line_bytes).take(height).flat_map(|line| &line[..width]);
            assert!(lines.eq(&pixels), "{container} {width} × {height}");
            let error = PlaneHeader::read(&path, None).unwrap_err().to_string();
            assert!(error.contains("--encoding phase8"), "{error}");
        }
    }
}

#[test]
fn singles_in_a_tiff_are_read_by_another_decoder() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("plane.tif");
    let header = PlaneHeader::new(Container::Tiff, 37, 21, Element::Intensity32);
    let values: Vec<f32> = (0..37 * 21u16).map(|i| f32::from(i) * 0.37 - 3.0).collect();
    // Several strips, as large planes have.
    for strip_bytes in [usize::MAX, 84 * 5, 1] {
        let mut bytes = tiff::encode(&header, strip_bytes);
        assert_eq!(bytes.len(), ALIGNMENT);
        bytes.extend(values.iter().flat_map(|v| v.to_le_bytes()));
        std::fs::write(&path, bytes).unwrap();
        let file = std::fs::File::open(&path).unwrap();
        let mut decoder = ::tiff::decoder::Decoder::new(file).unwrap();
        assert_eq!(decoder.dimensions().unwrap(), (21, 37));
        assert_eq!(
            decoder.strip_count().unwrap(),
            [1, 8, 37][[usize::MAX, 420, 1].iter().position(|&s| s == strip_bytes).unwrap()]
        );
        match decoder.read_image().unwrap() {
            ::tiff::decoder::DecodingResult::F32(read) => assert_eq!(read, values),
            other => panic!("{other:?}"),
        }
        assert_eq!(PlaneHeader::read(&path, Some(Encoding::Intensity)).unwrap(), header);
        assert_eq!(PlaneHeader::read(&path, None).unwrap().element, Element::Float32);
        let error = PlaneHeader::read(&path, Some(Encoding::Phase8)).unwrap_err().to_string();
        assert!(error.contains("<f4") && error.contains("phase8"), "{error}");
    }
}

/// A hologram of 262144² levels: offsets far above 4 GiB, strips in the header's block.
#[test]
fn large_tiffs_keep_their_strips_within_the_header() {
    let header = PlaneHeader::new(Container::Tiff, 262_144, 262_144, Element::Phase8);
    let bytes = header.encode();
    assert_eq!((bytes.len(), header.file_bytes()), (ALIGNMENT, 4096 + (1 << 36)));
    let last = bytes.as_chunks::<8>().0.iter().map(|b| u64::from_le_bytes(*b)).max().unwrap();
    assert!(last > (1 << 35), "{last}");
}

#[test]
fn pictures_of_other_kinds_are_refused_with_a_remedy() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let problem =
        |name: &str| PlaneHeader::read(&path(name), Some(Encoding::Phase8)).unwrap_err().to_string();
    let rgb = image::RgbImage::new(8, 5);
    for name in ["rgb.png", "rgb.bmp", "rgb.tif"] {
        rgb.save(path(name)).unwrap();
        let problem = problem(name);
        assert!(problem.contains(name) && problem.contains("a plane "), "{problem}");
    }
    image::ImageBuffer::<image::Luma<u16>, _>::new(4, 4).save(path("deep.png")).unwrap();
    assert!(problem("deep.png").contains("8 bits"));
    // Not top-down.
    image::GrayImage::new(4, 4).save(path("up.bmp")).unwrap();
    assert!(problem("up.bmp").contains("top line first"));
    image::GrayImage::new(4, 4).save(path("a.jpg")).unwrap();
    assert!(problem("a.jpg").contains("not a .npy"));
    for container in [Container::Tiff, Container::Bmp, Container::Png] {
        let (path, _) = written(folder.path(), container, 90, 37);
        let bytes = std::fs::read(&path).unwrap();
        for length in [3, 9, 20, 60, 100, 2000, bytes.len() - 1] {
            std::fs::write(&path, &bytes[..length.min(bytes.len() - 1)]).unwrap();
            match PlaneHeader::read(&path, Some(Encoding::Phase8)) {
                Err(StorageError::Plane { .. }) => {}
                Ok(header) if header.is_packed() => {
                    let store = MemoryStore::default();
                    store.allocate(header.file_bytes()).unwrap();
                    let error = header.unpack(&path, &store, || false).unwrap_err();
                    assert!(error.to_string().contains("cut short"), "{error}");
                }
                other => panic!("{container} of {length} bytes: {other:?}"),
            }
        }
    }
}

#[test]
fn packing_and_unpacking_stop_on_request() {
    let folder = tempfile::tempdir().unwrap();
    let (path, _) = written(folder.path(), Container::Png, 40, 30);
    let header = PlaneHeader::read(&path, Some(Encoding::Phase8)).unwrap();
    let store = MemoryStore::new(&vec![0; 1200]);
    let lines = std::cell::Cell::new(0);
    let stop = || {
        lines.set(lines.get() + 1);
        lines.get() > 10
    };
    assert!(!header.unpack(&path, &store, stop).unwrap());
    assert_eq!(lines.get(), 11);
    lines.set(0);
    let file = std::fs::File::create(folder.path().join("other.png")).unwrap();
    assert!(!header.pack(&store, &file, &path, stop).unwrap());
    assert_eq!(lines.get(), 11);
}

#[test]
fn endings_that_do_not_fit_are_refused_with_those_that_do() {
    let check = |name: &str, encoding, side| Container::check(Path::new(name), encoding, side, side);
    assert_eq!(check("a.NPY", Encoding::Complex, 9), Ok(Container::Npy));
    assert_eq!(check("a.Tiff", Encoding::Intensity, 9), Ok(Container::Tiff));
    assert_eq!(check("a.png", Encoding::Amplitude8, 65_535), Ok(Container::Png));
    assert_eq!(check("a.tif", Encoding::Phase8, 1 << 20), Ok(Container::Tiff));
    let refused = |name, encoding, side, words: &[&str]| {
        let problem = check(name, encoding, side).unwrap_err();
        assert!(words.iter().all(|word| problem.contains(word)), "{problem}");
    };
    refused("a.tif", Encoding::Complex, 9, &["a.tif", "complex", ".npy", "another encoding"]);
    refused("a.png", Encoding::Intensity, 9, &["a.png", "intensity", ".tif"]);
    refused("a", Encoding::Phase8, 9, &[".npy", ".tif", ".bmp", ".png"]);
    refused("a.jpg", Encoding::Phase8, 9, &["a.jpg", ".png"]);
    refused("a.png", Encoding::Phase8, 65_536, &["65535", ".tif"]);
    refused("a.bmp", Encoding::Phase8, 65_536, &["4 GiB", ".tif"]);
}

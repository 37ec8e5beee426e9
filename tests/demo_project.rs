//! The demo project that comes with the program can be used as it is.

use std::path::Path;

use gigafringe::optics::{Image, Samples};
use gigafringe::project::Project;
use gigafringe::storage::{open_layer, probe};

fn demo() -> Project {
    Project::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/demo/project.json")).unwrap()
}

fn images() -> Vec<Image> {
    demo().layers.iter().map(|layer| open_layer(&layer.image, 1 << 30).unwrap()).collect()
}

fn pixels(image: &Image) -> &[u8] {
    match &image.samples {
        Samples::U8(pixels) => pixels,
        Samples::U16(_) => panic!("the demo's images have 8 bits"),
    }
}

#[test]
fn the_demo_project_loads_and_is_valid() {
    let project = demo();
    project.validate().unwrap();
    let depths: Vec<_> = project.layers.iter().map(|layer| layer.distance.in_metres()).collect();
    assert_eq!(depths, [2e-3, 4e-3, 6e-3]);
    assert_eq!(project.grid.samples(), 1 << 24);
    for layer in &project.layers {
        assert_eq!(probe(&layer.image).unwrap(), (1024, 1024, 1 << 20));
    }
}

#[test]
fn each_photograph_has_a_place_of_its_own() {
    let images = images();
    for pixel in 0..1 << 20 {
        let lit = images.iter().filter(|image| pixels(image)[pixel] > 0).count();
        assert!(lit <= 1, "pixel {pixel} is lit in {lit} layers");
    }
    for image in &images {
        let lit = pixels(image).iter().filter(|&&v| v > 0).count();
        assert!((100_000..300_000).contains(&lit), "{lit} pixels are lit");
    }
}

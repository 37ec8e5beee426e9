//! What a frame of the window costs while a run reports 2000 events a second and 50 000 are shown.
//!
//! `cargo bench --bench window` prints the median, the 99th percentile and the longest of the frames of each page:
//! taking events in, laying out, and tessellating for the graphics card. It needs no display.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use eframe::App as _;
use gigafringe::app::{App, Ask, Backend, Command, Page, blank_project};
use gigafringe::engine::{Cancel, ChunkEvent, Event, EventSink, Kind, PassInfo};
use gigafringe::project::{Layer, Project};
use gigafringe::run::{Estimate, RunError, RunHandle};
use gigafringe::storage::DetectedDrive;

/// Events that are there before the frames are timed.
const SHOWN: usize = 50_000;
/// Events a second after that.
const RATE: u32 = 2000;
/// Time of each page.
const TIME: Duration = Duration::from_secs(6);
/// Between two frames, as the window's wake-ups come.
const BETWEEN: Duration = Duration::from_millis(100);

/// An engine that reports and does nothing else.
struct Reporter;

impl Backend for Reporter {
    fn start(&self, _: &Project, _: bool, wake: Box<dyn Fn() + Send + Sync>) -> Result<RunHandle, RunError> {
        let (sink, events) = EventSink::channel(wake);
        let cancel = Cancel::default();
        let stop = cancel.clone();
        let thread = std::thread::spawn(move || report(&sink, &stop));
        Ok(RunHandle::new(events, cancel, thread))
    }

    fn estimate(&self, _: &Project) -> Result<Estimate, RunError> {
        Ok(Estimate::default())
    }

    fn measure(&self, _: &Project) -> Result<Estimate, RunError> {
        Ok(Estimate::default())
    }

    fn detect_drives(&self) -> Vec<DetectedDrive> {
        Vec::new()
    }

    fn ask(&self, _: Ask) -> Option<Vec<PathBuf>> {
        None
    }
}

fn report(sink: &EventSink, stop: &Cancel) {
    let pass = |name: &str| PassInfo {
        name: name.into(),
        streams: vec!["even".into(), "odd".into()],
        chunks: 10 * SHOWN,
        bytes: 1 << 50,
    };
    sink.send(Event::JobStarted {
        name: "hologram".into(),
        job: 0,
        jobs: 4,
        method: "implicit".into(),
        drives: ["/a", "/b", "/c", "/d"].map(String::from).into(),
        passes: ["phase 1: rows", "phase 2: columns", "phase 3: rows"].map(pass).into(),
        predicted: Some(1e4),
        chunk: 128,
        buffers: 3,
        memory: 1 << 30,
    });
    sink.send(Event::PassStarted { pass: 0, at: 0.0 });
    let started = Instant::now();
    let mut sent = 0;
    while !stop.is_cancelled() {
        let reported = started.elapsed().as_millis() * u128::from(RATE) / 1000;
        let due = SHOWN + usize::try_from(reported).unwrap_or(usize::MAX / 2);
        while sent < due {
            sink.send(Event::Chunk(event(sent)));
            sent += 1;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    sink.send(Event::Cancelled { text: "stopped".into() });
}

/// Drives that read and write in turn, and two streams that are computed.
fn event(index: usize) -> ChunkEvent {
    let start = index as f64 / f64::from(RATE);
    let (kind, drive) = match index % 6 {
        0 => (Kind::Read, Some(0)),
        1 => (Kind::Write, Some(1)),
        2 => (Kind::Read, Some(2)),
        3 => (Kind::Write, Some(3)),
        4 => (Kind::Wait, Some(index % 4)),
        _ => (Kind::Compute, None),
    };
    let bytes = if drive.is_some() { 4 << 20 } else { 0 };
    let stream = index / 6 % 2;
    ChunkEvent { pass: 0, stream, chunk: index / 12, drive, kind, start, end: start + 0.002, bytes }
}

/// Milliseconds of frames, one each [`BETWEEN`], for [`TIME`].
fn frames(ctx: &egui::Context, app: &mut App, frame: &mut eframe::Frame) -> Vec<f64> {
    let began = Instant::now();
    let mut times = Vec::new();
    while began.elapsed() < TIME {
        let input = egui::RawInput {
            screen_rect: Some(egui::Rect::from_min_size(egui::Pos2::ZERO, egui::vec2(1400.0, 900.0))),
            time: Some(began.elapsed().as_secs_f64()),
            ..egui::RawInput::default()
        };
        let started = Instant::now();
        app.logic(ctx, frame);
        let output = ctx.run_ui(input, |ui| app.ui(ui, frame));
        let _ = std::hint::black_box(ctx.tessellate(output.shapes, output.pixels_per_point));
        times.push(1e3 * started.elapsed().as_secs_f64());
        std::thread::sleep(BETWEEN);
    }
    times
}

fn main() {
    let ctx = egui::Context::default();
    let mut project = blank_project();
    project.layers.push(Layer::new("none.png", gigafringe::optics::Length::metres(3e-3)));
    let mut app = App::new(Arc::new(Reporter), project, None, &ctx);
    let mut frame = eframe::Frame::_new_kittest();
    app.send(Command::Run);
    // The first frames take the 50 000 in.
    let taken = frames(&ctx, &mut app, &mut frame);
    println!("taking the first {SHOWN} in: the longest frame took {:.2} ms", longest(&taken));
    for page in [Page::Run, Page::Timeline, Page::History] {
        app.send(Command::Show(page));
        let mut times = frames(&ctx, &mut app, &mut frame);
        times.sort_by(f64::total_cmp);
        let at = |percent: usize| times[((times.len() - 1) * percent).div_ceil(100)];
        println!(
            "{page:?}: {} frames, median {:.2} ms, 99th percentile {:.2} ms, longest {:.2} ms",
            times.len(),
            at(50),
            at(99),
            longest(&times)
        );
    }
    println!("{} bars in the timeline", app.view().timeline().bars());
}

fn longest(times: &[f64]) -> f64 {
    times.iter().copied().fold(0.0, f64::max)
}

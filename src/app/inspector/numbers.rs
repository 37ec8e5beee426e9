//! What the inspector knows of each reconstruction, computed off the window's thread.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::task::{Poll, Task, Wake};
use crate::engine::{Cancel, Preview};
use crate::inspect::{Comparison, Histogram, Picture, Raster, Region, Statistics, Tone, statistics, target};
use crate::optics::{LayerSource, Phase};
use crate::project::{Layer, Project};
use crate::storage::open_layer;

/// Steps of a histogram.
const STEPS: usize = 96;
/// The histogram's end, in white levels.
const BEYOND_WHITE: f32 = 1.25;
/// Bytes that decoding a layer's image may take.
const DECODING_MEMORY: u64 = 512 << 20;

/// A reconstruction's own numbers.
#[derive(Debug)]
pub struct Summary {
    /// The intensity below which 99.5 % of the preview samples lie.
    pub white: f32,
    /// Of all of it.
    pub whole: Statistics,
    /// Of all preview samples.
    pub histogram: Histogram,
}

/// A layer's own image on the raster of its reconstruction.
pub struct Target {
    /// Its intensities.
    pub picture: Arc<Preview>,
    /// How well the reconstruction agrees with it; none where the layer is dark.
    pub comparison: Option<Comparison>,
}

/// How far the layer's own image is.
enum Own {
    Loading(Task<Result<Target, String>>, Cancel),
    Ready(Target),
    Failed(String),
}

impl Drop for Own {
    fn drop(&mut self) {
        if let Self::Loading(_, cancel) = self {
            cancel.cancel();
        }
    }
}

struct RegionOf {
    preview: Arc<Preview>,
    region: Region,
}

impl RegionOf {
    fn is(&self, preview: &Arc<Preview>, region: &Region) -> bool {
        Arc::ptr_eq(&self.preview, preview) && self.region == *region
    }
}

/// All numbers, made one after another as they are wanted.
#[derive(Default)]
pub struct Numbers {
    summaries: BTreeMap<usize, (Arc<Preview>, Option<Summary>)>,
    summing: Option<(usize, Task<Option<Summary>>)>,
    region: Option<(RegionOf, Option<Statistics>)>,
    measuring: Option<(RegionOf, Task<Option<Statistics>>)>,
    own: Option<(Arc<Preview>, Own)>,
}

/// Where the samples of `preview` lie on the plane of `project`; none where it is of another plane.
pub fn raster(project: &Project, preview: &Preview) -> Option<Raster> {
    let grid = project.grid;
    let raster = Raster {
        plane: [grid.width, grid.height],
        pitch: [grid.pitch_x.in_metres(), grid.pitch_y.in_metres()],
        scale: preview.scale,
    };
    let fits = preview.scale > 0 && [raster.size(0), raster.size(1)] == [preview.width, preview.height];
    (fits && Picture::new(raster, &preview.mean).is_some()).then_some(raster)
}

impl Numbers {
    /// A reconstruction's numbers, once they are ready.
    pub fn summary(&self, layer: usize) -> Option<&Summary> {
        self.summaries.get(&layer)?.1.as_ref()
    }

    /// The white level of the brightest reconstruction.
    pub fn brightest(&self) -> f32 {
        let whites = self.summaries.values().filter_map(|(_, summary)| summary.as_ref());
        whites.map(|summary| summary.white).fold(0.0, f32::max)
    }

    /// A region's numbers, once they are ready.
    pub fn statistics(&self, preview: &Arc<Preview>, region: &Region) -> Option<&Statistics> {
        let (known, statistics) = self.region.as_ref()?;
        statistics.as_ref().filter(|_| known.is(preview, region))
    }

    /// The layer's own image, once it is ready, or what is wrong with it.
    pub fn own(&self, preview: &Arc<Preview>) -> Option<Result<&Target, &str>> {
        match self.own.as_ref().filter(|(known, _)| Arc::ptr_eq(known, preview)) {
            Some((_, Own::Ready(target))) => Some(Ok(target)),
            Some((_, Own::Failed(error))) => Some(Err(error)),
            Some((_, Own::Loading(..))) | None => None,
        }
    }

    /// Keeps the numbers of every reconstruction of `project` up to date.
    pub fn summarise(&mut self, wake: &Wake, project: &Project, previews: &BTreeMap<usize, Arc<Preview>>) {
        self.summaries.retain(|layer, (known, _)| {
            previews.get(layer).is_some_and(|preview| Arc::ptr_eq(known, preview))
        });
        if let Some((layer, task)) = &self.summing {
            let summary = match task.poll() {
                Poll::Pending => return,
                Poll::Done(summary) => summary,
                Poll::Lost => None,
            };
            // Only if it is of this very preview: others were dropped above, and are summed anew.
            if let Some(entry) = self.summaries.get_mut(layer) {
                entry.1 = summary;
            }
            self.summing = None;
        }
        let next = previews.iter().find(|(layer, _)| !self.summaries.contains_key(layer));
        if let Some((&layer, preview)) = next {
            self.summaries.insert(layer, (preview.clone(), None));
            let (raster, preview) = (raster(project, preview), preview.clone());
            let sum = move || summary(Picture::new(raster?, &preview.mean)?);
            self.summing = Some((layer, Task::spawn("summary", wake.clone(), sum)));
        }
    }

    /// Measures `region` of `preview`, unless that is known.
    pub fn measure(&mut self, wake: &Wake, preview: &Arc<Preview>, raster: Raster, region: &Region) {
        if let Some((_, task)) = &self.measuring {
            let statistics = match task.poll() {
                Poll::Pending => return,
                Poll::Done(statistics) => statistics,
                Poll::Lost => None,
            };
            self.region = self.measuring.take().map(|(of, _)| (of, statistics));
        }
        if self.region.as_ref().is_some_and(|(of, _)| of.is(preview, region)) {
            return;
        }
        let of = RegionOf { preview: preview.clone(), region: region.clone() };
        let (preview, region) = (preview.clone(), region.clone());
        let measure = move || statistics(Picture::new(raster, &preview.mean)?, &region);
        self.measuring = Some((of, Task::spawn("region", wake.clone(), measure)));
    }

    /// Compares `preview` with the layer's own image; `begin` while nothing would be slowed by it.
    pub fn compare(
        &mut self,
        wake: &Wake,
        (project, layer): (&Project, &Layer),
        preview: &Arc<Preview>,
        raster: Raster,
        begin: bool,
    ) {
        if self.own.as_ref().is_some_and(|(known, _)| !Arc::ptr_eq(known, preview)) {
            self.own = None;
        }
        if let Some((_, own @ Own::Loading(..))) = &mut self.own {
            let Own::Loading(task, _) = &*own else { return };
            *own = match task.poll() {
                Poll::Pending => return,
                Poll::Done(Ok(target)) => Own::Ready(target),
                Poll::Done(Err(error)) => Own::Failed(error),
                Poll::Lost => Own::Failed("Comparing ended early: this is a defect of Gigafringe".into()),
            };
        }
        if self.own.is_none() && begin {
            let cancel = Cancel::default();
            let (stop, layer, grid, of) = (cancel.clone(), layer.clone(), project.grid, preview.clone());
            let work = move || {
                let image = open_layer(&layer.image, DECODING_MEMORY).map_err(|error| error.to_string())?;
                // Only amplitudes matter here.
                let source = LayerSource::new(image, layer.values, Phase::Uniform, &grid, 0, 0)
                    .with_amplitude(layer.amplitude);
                let mean = target(&source, raster, || stop.is_cancelled()).unwrap_or_default();
                let comparison = Comparison::of(&of.mean, &mean);
                let Preview { width, height, scale, distance, .. } = *of;
                Ok(Target { picture: Arc::new(Preview { width, height, scale, distance, mean }), comparison })
            };
            let task = Task::spawn("own image", wake.clone(), work);
            self.own = Some((preview.clone(), Own::Loading(task, cancel)));
        }
    }
}

fn summary(picture: Picture<'_>) -> Option<Summary> {
    let white = Tone::of(picture.values()).white;
    let whole = statistics(picture, &Region::whole(picture))?;
    let histogram = Histogram::of(picture.values(), STEPS, BEYOND_WHITE * white);
    Some(Summary { white, whole, histogram })
}

//! How far a comparison is, as it is told while it is made.

use std::cell::RefCell;

use gigafringe::engine::Cancel;
use gigafringe::lab::{Comparing, Experiment, Step, Told, compare};

#[test]
fn every_run_of_a_comparison_is_told_before_it_begins_and_the_last_is_the_last() {
    // With parts of the work left out, with buffers tried out first, and in several rounds.
    for (experiment, repeat) in [(Experiment::Table2, 1), (Experiment::Overlap, 2)] {
        let folder = tempfile::tempdir().unwrap();
        let comparing = Comparing {
            experiment,
            size: 300,
            memory: None,
            repeat,
            folder: folder.path().into(),
            drives: Vec::new(),
        };
        let steps: RefCell<Vec<Step>> = RefCell::default();
        // The lines of runs that are over, which have their seconds.
        let over = RefCell::new(0);
        let tell = |told: Told<'_>| match told {
            Told::Step(step) => {
                assert_eq!(step.done, *over.borrow(), "{experiment:?}: {step:?}");
                steps.borrow_mut().push(step.clone());
            }
            Told::Line(line) => *over.borrow_mut() += usize::from(line.starts_with("  ")),
        };
        let report = compare(&comparing, &Cancel::default(), &tell).unwrap();
        let steps = steps.into_inner();
        let tried: usize = report.sections.iter().map(|section| section.tuning.len()).sum();
        let runs = report.sections.iter().flat_map(|section| &section.series).map(|s| s.seconds.len());
        assert_eq!(steps.len(), tried + runs.sum::<usize>(), "{experiment:?}");
        assert_eq!(steps.iter().filter(|step| step.turn.is_none()).count(), tried);
        let last = steps.last().unwrap();
        assert_eq!((last.done + 1, last.turn), (last.of, Some([repeat, repeat])), "{experiment:?}: {last:?}");
        // What is expected only becomes less.
        assert!(steps.windows(2).all(|two| two[1].of <= two[0].of), "{experiment:?}");
    }
}

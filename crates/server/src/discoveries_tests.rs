use std::sync::mpsc;

use super::*;

/// Searches that the test drives step by step: each step waits for the test, and reports whether it may go on.
struct Stage {
    discoveries: Arc<Discoveries>,
    tasks: TaskTracker,
    closing: CancellationToken,
    step: mpsc::Sender<()>,
    goes_on: tokio::sync::mpsc::UnboundedReceiver<bool>,
}

const STEPS: u64 = 3;

impl Stage {
    fn new() -> Self {
        let (step, steps) = mpsc::channel();
        let (reports, goes_on) = tokio::sync::mpsc::unbounded_channel();
        let steps = Mutex::new(steps);
        let discoveries = Discoveries::new(Arc::new(move |_, goes_on| {
            let mut found = Discovery::default();
            for _ in 0..STEPS {
                steps.lock().recv().unwrap();
                let goes_on = goes_on(&found);
                reports.send(goes_on).unwrap();
                if !goes_on {
                    break;
                }
                found.scanned += 1;
            }
            found
        }));
        let (tasks, closing) = (TaskTracker::new(), CancellationToken::new());
        Self { discoveries: Arc::new(discoveries), tasks, closing, step, goes_on }
    }

    fn ask(&self) -> Lookup {
        self.discoveries.search(&["/".into()], true, &self.tasks, &self.closing)
    }

    fn search(&self) -> SearchHandle {
        match self.ask() {
            Lookup::Running(search) => search,
            Lookup::Cached(..) => panic!("it was to be looked up"),
        }
    }

    async fn step(&mut self) -> bool {
        self.step.send(()).unwrap();
        self.goes_on.recv().await.unwrap()
    }
}

async fn end(mut search: SearchHandle) -> Option<u64> {
    loop {
        match search.next().await {
            Ok(Some(searched)) => return Some(searched.found.scanned),
            Ok(None) => {}
            Err(_) => return None,
        }
    }
}

#[tokio::test]
async fn all_who_wait_share_one_search_which_goes_on_until_the_last_of_them_leaves() {
    let mut stage = Stage::new();
    let (one, other) = (stage.search(), stage.search());
    assert!(stage.step().await);
    assert_eq!(one.cut().found.repositories, []);
    assert!(stage.step().await, "somebody still waits");
    assert!(stage.step().await);
    assert_eq!(end(other).await, Some(STEPS));
    let known = stage.discoveries.search(&["/".into()], false, &stage.tasks, &stage.closing);
    assert!(matches!(known, Lookup::Cached(searched, false) if searched.found.scanned == STEPS));
}

#[tokio::test]
async fn a_search_that_nobody_waits_for_ends_and_is_not_kept() {
    let mut stage = Stage::new();
    drop(stage.search());
    let next = stage.search();
    let mut told_to_end = 0;
    for _ in 0..=STEPS {
        told_to_end += usize::from(!stage.step().await);
    }
    assert_eq!(told_to_end, 1, "the second search is another one, and goes on");
    assert_eq!(end(next).await, Some(STEPS));
}

#[tokio::test]
async fn a_search_ends_with_the_daemon() {
    let mut stage = Stage::new();
    let search = stage.search();
    stage.closing.cancel();
    assert!(!stage.step().await);
    assert_eq!(end(search).await, None);
}

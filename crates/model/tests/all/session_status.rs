//! The session's states: every pair of state and step, and any sequence of steps.

use proptest::prelude::*;
use roost_model::session::{IllegalStep, SessionStatus, SessionStep};

const STATUSES: [SessionStatus; 4] =
    [SessionStatus::Created, SessionStatus::Active, SessionStatus::Ending, SessionStatus::Closed];
const STEPS: [SessionStep; 3] = [SessionStep::Prompt, SessionStep::End, SessionStep::Gone];

#[test]
fn every_status_and_step_has_one_answer() {
    use SessionStatus::{Active, Closed, Ending};
    // A row per status and a column per step, in the order of the constants; `None` is a step that cannot be taken.
    let table = [
        [Some(Active), Some(Ending), None],
        [Some(Active), Some(Ending), None],
        [None, Some(Ending), Some(Closed)],
        [Some(Active), None, None],
    ];
    for (from, row) in STATUSES.into_iter().zip(table) {
        for (step, to) in STEPS.into_iter().zip(row) {
            assert_eq!(from.after(step), to.ok_or(IllegalStep { from, step }), "{from} {step:?}");
        }
    }
}

#[test]
fn a_step_that_cannot_be_taken_says_from_where() {
    let error = SessionStatus::Closed.after(SessionStep::Gone).unwrap_err();
    assert_eq!(error.to_string(), "a session that is closed cannot take the step Gone");
}

proptest! {
    #[test]
    fn no_sequence_of_steps_breaks_the_life_of_a_session(steps in prop::collection::vec(prop::sample::select(&STEPS[..]), 0..40)) {
        use SessionStatus::{Active, Closed, Created, Ending};
        let mut status = Created;
        let mut prompted = false;
        let mut ending = false;
        for step in steps {
            let Ok(next) = status.after(step) else { continue };
            match step {
                SessionStep::Prompt => {
                    prop_assert!(!ending, "a session that ends takes no prompt");
                    prompted = true;
                }
                SessionStep::End => ending = true,
                SessionStep::Gone => {
                    prop_assert!(ending, "a session is closed only after it was ended");
                    ending = false;
                }
            }
            prop_assert_ne!(next, Created, "nothing leads back");
            prop_assert!(next != Active || prompted, "only a prompt makes a session active");
            prop_assert_eq!(next == Ending, ending);
            prop_assert_eq!(next == Closed, step == SessionStep::Gone);
            status = next;
        }
    }
}

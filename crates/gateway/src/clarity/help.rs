//! What an agent is told about Clarity.

/// The topics that there is help on.
pub const TOPICS: [&str; 4] = ["overview", "prompts", "onboarding", "default_language"];

/// The help on a topic; `None` if there is none of this name.
pub fn help(topic: &str) -> Option<&'static str> {
    Some(match topic {
        "overview" => {
            "Clarity is a small, statically typed language that compiles to WebAssembly. A file begins with `module Name`. \
             Functions are `function add(a: Int64, b: Int64) -> Int64 { a + b }`; one with side effects says so: \
             `effect[Log] function …`. There is no if and no loop: use `match` and recursion. The exported functions of a \
             registered module become the tools `<namespace>__fn__<function>`."
        }
        "prompts" => {
            "Ask for one module with a few pure functions, name their parameters and types, and ask for a short test of \
             each. Then: clarity__project_structure shows where files go, clarity__bootstrap_app writes and compiles \
             them, runtime__list_services shows the service."
        }
        "onboarding" => {
            "1. clarity__ensure_compiler tells whether the compiler is there. 2. clarity__bootstrap_app makes a project, \
             compiles it and registers its module. 3. runtime__get_service shows its state and its tools. \
             4. Change the source, compile it again, and use runtime__refresh_interface."
        }
        "default_language" => {
            "Write new application logic as Clarity modules if the person has asked for Clarity; otherwise use the \
             language that the project already has."
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_help_on_every_topic_and_on_no_other() {
        assert!(TOPICS.iter().all(|topic| help(topic).is_some()));
        assert_eq!(help("weather"), None);
    }
}

//! Whether the compiler may be installed, and by which command: the operator's, never a caller's.

use std::ffi::OsString;

/// The command that installs the compiler. There is one only where the operator enabled it and listed its program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstallCommand {
    /// The program: a path, or a name in `PATH`.
    pub(super) program: OsString,
    /// None of them is read by a shell.
    pub(super) args: Vec<OsString>,
}

impl InstallCommand {
    /// Reads the three variables of clarity-runtime. The error says why nothing may be installed.
    pub fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Result<Self, &'static str> {
        let text = |name: &str| variable(name).unwrap_or_default();
        if !matches!(text("CLARITY_ENABLE_COMPILER_INSTALL").trim(), "1" | "true" | "yes") {
            return Err(
                "installs are off; whoever starts the daemon enables them with CLARITY_ENABLE_COMPILER_INSTALL=1",
            );
        }
        let command = text("CLARITY_COMPILER_INSTALL_CMD");
        let mut words = command.split_whitespace();
        let Some(program) = words.next() else {
            return Err("CLARITY_COMPILER_INSTALL_CMD names no command that installs the compiler");
        };
        if !text("CLARITY_COMPILER_INSTALL_ALLOWLIST").split(',').any(|allowed| allowed.trim() == program) {
            return Err("the program of CLARITY_COMPILER_INSTALL_CMD is not in CLARITY_COMPILER_INSTALL_ALLOWLIST");
        }
        Ok(Self { program: program.into(), args: words.map(Into::into).collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(enabled: &str, command: &str, allowed: &str) -> Result<InstallCommand, &'static str> {
        InstallCommand::from_variables(|name| {
            let value = match name {
                "CLARITY_ENABLE_COMPILER_INSTALL" => enabled,
                "CLARITY_COMPILER_INSTALL_CMD" => command,
                "CLARITY_COMPILER_INSTALL_ALLOWLIST" => allowed,
                _ => return None,
            };
            Some(value.to_owned()).filter(|value| !value.is_empty())
        })
    }

    #[test]
    fn nothing_is_installed_unless_it_is_enabled_named_and_listed() {
        for (enabled, command, allowed, says) in [
            ("", "npm i clarityc", "npm", "installs are off"),
            ("0", "npm i clarityc", "npm", "installs are off"),
            ("1", "", "npm", "names no command"),
            ("1", "npm i clarityc", "", "is not in"),
            ("1", "npm i clarityc", "npmx, /usr/bin/npm", "is not in"),
        ] {
            let refused = read(enabled, command, allowed).unwrap_err();
            assert!(refused.contains(says), "{enabled:?} {command:?} {allowed:?}: {refused}");
        }
        let command = read("1", "npm i  -g clarityc; rm", "pip, npm").unwrap();
        assert_eq!(
            (command.program, command.args),
            ("npm".into(), ["i", "-g", "clarityc;", "rm"].map(Into::into).into())
        );
    }
}

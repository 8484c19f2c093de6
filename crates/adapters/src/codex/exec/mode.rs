//! What a mode lets Codex do when nobody can be asked.

use roost_proto::mode::Mode;

/// The settings of a mode, as `-c` keys; those that somebody set by hand are left alone.
///
/// | mode | approvals | sandbox | network |
/// |---|---|---|---|
/// | plan, ask | never | read-only | no |
/// | accept-edits | never | workspace-write | no |
/// | auto | never | workspace-write | yes |
/// | yolo | never | danger-full-access | yes |
pub(super) fn settings(mode: Mode) -> &'static [(&'static str, &'static str)] {
    match mode {
        // What would be asked about is what a read-only sandbox refuses.
        Mode::Plan | Mode::Ask => &[("sandbox_mode", "\"read-only\"")],
        Mode::AcceptEdits => {
            &[("sandbox_mode", "\"workspace-write\""), ("sandbox_workspace_write.network_access", "false")]
        }
        Mode::Auto => &[("sandbox_mode", "\"workspace-write\""), ("sandbox_workspace_write.network_access", "true")],
        Mode::Yolo => &[("sandbox_mode", "\"danger-full-access\"")],
    }
}

/// The name of a mode's sandbox.
pub(super) fn sandbox(mode: Mode) -> &'static str {
    match mode {
        Mode::Plan | Mode::Ask => "read-only",
        Mode::AcceptEdits => "workspace-write",
        Mode::Auto => "workspace-write with network",
        Mode::Yolo => "danger-full-access",
    }
}

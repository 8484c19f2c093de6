//! What a service declares and what of it people approved: manifests, listed interfaces, approvals, and the end of it all.

use std::sync::Arc;

use roost_model::event::{EventBody, NewEvent};
use roost_model::payload::{
    ServiceInterfaceRefreshedPayload, ServiceManifestAppliedPayload, ServiceRemovedPayload, ServiceToolsApprovedPayload,
};
use roost_model::service::Lifecycle;
use roost_model::service::manifest::Manifest;
use roost_model::time::Timestamp;

use super::super::ServiceError;
use super::super::interface::Interface;
use super::super::review::{ToolApproval, approve, review};
use super::super::stored::{StoredService, removal};
use super::{CommandReply, Supervisor};
use crate::lifecycle::ServiceSignal;
use crate::tool_pins::PinState;

/// The names that an event holds.
const MAX_NAMES: usize = 100;

impl Supervisor {
    /// Takes a listed interface: approves what is new where that is configured, and records what changed. Others see it
    /// when the caller publishes it, so that nobody sees the tools of a service that does not run yet.
    pub(super) async fn accept(&mut self, interface: Interface) {
        for problem in &interface.problems {
            self.handle.log.write(problem);
        }
        let mut events: Vec<EventBody> = Vec::new();
        let is_new = |_: &str, state: PinState| state == PinState::New && !self.shared.options.approve_new_tools;
        let (pins, approved) = approve(&self.view.stored.pins, &interface, is_new);
        let is_approved = self.view.stored.is_approved() || !self.shared.options.approve_new_tools;
        let is_row_changed = !approved.is_empty() || is_approved != self.view.stored.is_approved();
        if is_row_changed {
            let approved = Some(is_approved);
            self.view.stored = Arc::new(StoredService { pins, approved, ..(*self.view.stored).clone() });
        }
        if !approved.is_empty() {
            events.push(self.approval(&approved, None));
        }
        if !is_approved {
            self.handle.log.write("its prompts, resources and instructions wait until somebody approves the service");
        }
        self.view.tools = review(&self.view.stored, &interface).into();
        let held_back: Vec<_> = self.view.tools.iter().filter(|tool| tool.is_held_back()).collect();
        for tool in held_back.iter().filter(|tool| tool.state == PinState::Changed) {
            let what = if tool.has_other_code() { "was built again" } else { "changed" };
            let until = "until `roost services approve` offers it again";
            self.handle
                .log
                .write(&format!("the tool \"{}\" {what} since it was approved and is held back {until}", tool.name));
        }
        let before = self.view.interface.as_ref().map(|interface| interface.revision.clone());
        let is_changed = before.as_ref() != Some(&interface.revision);
        if is_changed {
            let refreshed = ServiceInterfaceRefreshedPayload {
                service_id: self.view.id.clone(),
                revision: interface.revision.clone(),
                tools: interface.tools.len() as u64,
                resources: interface.resources.len() as u64,
                prompts: interface.prompts.len() as u64,
                held_back: held_back.iter().take(MAX_NAMES).map(|tool| tool.name.clone()).collect(),
            };
            events.push(refreshed.into());
        }
        let was_private = self.view.is_private;
        // What is listed is listed on behalf of the local user. Nobody else's login counts.
        self.view.is_private = interface.is_private
            && self.shared.connect.has_login(&self.view.id, &self.view.stored.manifest.spec.origin).await;
        self.view.interface = Some(Arc::new(interface));
        self.view.last_answer = Some(Timestamp::now());
        let stored = is_row_changed.then(|| self.view.stored.clone());
        self.keep_or_report(stored.as_deref(), events).await;
        if is_changed || is_row_changed || was_private != self.view.is_private {
            self.view.offered = self.view.offer();
        }
    }

    fn approval(&self, tools: &[String], approved_by: Option<String>) -> EventBody {
        let (service_id, count) = (self.view.id.clone(), tools.len() as u64);
        let tools = tools.iter().take(MAX_NAMES).cloned().collect();
        ServiceToolsApprovedPayload { service_id, tools, count, approved_by }.into()
    }

    pub(super) async fn approve(&mut self, approval: ToolApproval) -> Result<(), ServiceError> {
        let ToolApproval { tools, revision, by } = approval;
        let Some(interface) = self.view.interface.clone() else {
            return Err(ServiceError::NotListed(self.view.id.clone()));
        };
        if revision.is_some_and(|looked_at| looked_at != interface.revision) {
            return Err(ServiceError::Outdated(self.view.id.clone()));
        }
        let is_known = |name: &String| interface.tools.iter().any(|tool| tool.key == *name);
        if let Some(unknown) = tools.iter().find(|name| !is_known(name)) {
            return Err(ServiceError::NoTool(unknown.clone()));
        }
        let is_meant = |name: &str, _| tools.is_empty() || tools.iter().any(|tool| tool == name);
        let (pins, approved) = approve(&self.view.stored.pins, &interface, is_meant);
        if approved.is_empty() && self.view.stored.is_approved() {
            return Ok(());
        }
        let stored = StoredService { pins, approved: Some(true), ..(*self.view.stored).clone() };
        let event = self.approval(&approved, Some(by));
        self.keep(Some(&stored), vec![event]).await?;
        self.view.stored = Arc::new(stored);
        self.view.tools = review(&self.view.stored, &interface).into();
        self.view.offered = self.view.offer();
        self.publish();
        Ok(())
    }

    /// Goes on with another manifest: what runs is started again if anything but its name for people changed.
    pub(super) async fn apply(&mut self, mut manifest: Manifest, reply: CommandReply) {
        let before = &self.view.stored;
        manifest.metadata.created_at = before.manifest.metadata.created_at.clone();
        manifest.metadata.updated_at = Some(Timestamp::now().to_string());
        let is_other_artifact = manifest.metadata.artifact_sha256 != before.manifest.metadata.artifact_sha256;
        let needs_restart = manifest.spec != before.manifest.spec || is_other_artifact;
        let stored = StoredService { version: before.version + 1, manifest, ..(**before).clone() };
        let applied = ServiceManifestAppliedPayload {
            service_id: self.view.id.clone(),
            version: stored.version,
            namespace: stored.namespace().as_str().to_owned(),
            enabled: stored.manifest.spec.enabled,
        };
        let is_enabled = stored.manifest.spec.enabled;
        if let Err(error) = self.keep(Some(&stored), vec![applied.into()]).await {
            // Whoever asked may be gone.
            let _ = reply.send(Err(error));
            return;
        }
        self.view.stored = Arc::new(stored);
        if let Some(interface) = &self.view.interface {
            self.view.tools = review(&self.view.stored, interface).into();
        }
        self.view.offered = self.view.offer();
        self.publish();
        let is_up = matches!(self.view.life.lifecycle, Lifecycle::Starting | Lifecycle::Running);
        if needs_restart && is_up {
            self.starts_after_stop = is_enabled;
            self.feed(ServiceSignal::Stop).await;
        }
        self.waiting_to_settle.push(reply);
    }

    pub(super) async fn remove(&mut self, reply: CommandReply) {
        self.starts_after_stop = false;
        self.removed = Some(reply);
        let stopped = match self.view.life.lifecycle {
            // Nobody else needs to let it out any more.
            Lifecycle::Quarantined => ServiceSignal::Unquarantine,
            _ => ServiceSignal::Stop,
        };
        self.feed(stopped).await;
    }

    /// Takes the service off the list as soon as the log tells of it, with nothing to wait for in between: whoever reads
    /// the list because of the event must not find it there.
    pub(super) async fn forget(&mut self) -> Result<(), ServiceError> {
        if let Err(error) = self.shared.connect.forget(&self.view.id).await {
            tracing::error!(service = %self.view.id, %error, "The logins at a removed service could not be forgotten.");
        }
        let namespace = self.view.stored.namespace().as_str().to_owned();
        let removed = ServiceRemovedPayload { service_id: self.view.id.clone(), namespace };
        let event = NewEvent::for_host(Timestamp::now(), removed);
        self.shared.log.keep(vec![removal(&self.view.id)], vec![event]).await.map_err(ServiceError::from)?;
        self.shared.remove(&self.view.id);
        Ok(())
    }
}

//! Requests about tasks. A task belongs to a call that was judged, and only whoever made that call can ask about it.

use std::sync::Arc;

use serde_json::value::RawValue;

use super::Endpoint;
use super::backend::UnaskedMessage;
use super::forward::Forwarding;
use super::known_tasks::{TaskEnd, TaskKey, task_end};
use super::methods::MethodAnswer;
use super::refusal::McpRefusal;
use super::request::Request;
use super::running_call::OpenTicket;
use super::surface::View;
use super::task_ids::{self, TASK_ID};
use crate::catalog::OfferedService;
use crate::raw_object::{RawObject, to_raw};

impl Endpoint {
    /// Only clients of its era can speak of a service's tasks. The aggregate has no list of all tasks.
    pub(super) async fn task(&self, request: &Request<'_>) -> MethodAnswer {
        let surface = self.usable_surface(request.context)?;
        if !surface.has_tasks(&request.context.profile.era) {
            return Err(McpRefusal::no_method(request.method));
        }
        let mut params = request.params.clone();
        let (service, id) = match (&surface.view, request.method) {
            (View::One(_), "tasks/list") => (surface.services.first(), None),
            (View::One(_), _) => (surface.services.first(), Some(request.text(TASK_ID)?)),
            (View::All | View::Lazy, "tasks/list") => return Err(McpRefusal::no_method(request.method)),
            (View::All | View::Lazy, _) => {
                let seen = request.text(TASK_ID)?;
                let (namespace, id) = task_ids::resolve(&seen).unwrap_or_default();
                params.set_text(TASK_ID, id);
                (surface.services.iter().find(|service| service.namespace.as_str() == namespace), Some(id.to_owned()))
            }
        };
        let has_tasks = |service: &&Arc<OfferedService>| service.has_tasks(&request.context.profile.era);
        let unknown = || McpRefusal::invalid_params("no call of yours became this task, or it was forgotten long ago");
        let service = service.filter(has_tasks).ok_or_else(unknown)?;
        let key = |id| (request.context.principal.clone(), service.id.clone(), id);
        let forwarding = Forwarding { request, service, params };
        let Some(id) = id else {
            let listed = self.forward(forwarding, async || Ok(None)).await?;
            return Ok(self.own_tasks(listed, |id| self.known_tasks.has(&key(id))));
        };
        let key = key(id);
        if !self.known_tasks.has(&key) {
            return Err(unknown());
        }
        let answer = self.forward(forwarding, async || Ok(None)).await;
        match &answer {
            Ok(result) if request.method == "tasks/result" => {
                if let Some(ticket) = self.known_tasks.end(&key) {
                    ticket.finish(Ok(result)).await;
                }
            }
            Ok(state) => self.see_task(&key, state).await,
            Err(_) => {}
        }
        answer
    }

    /// A list of tasks without those of others: a service may keep no one's apart.
    fn own_tasks(&self, listed: Box<RawValue>, is_own: impl Fn(String) -> bool) -> Box<RawValue> {
        let Some(mut members) = RawObject::parse(&listed) else { return listed };
        let tasks: Vec<Box<RawValue>> =
            members.get("tasks").and_then(|tasks| serde_json::from_str(tasks.get()).ok()).unwrap_or_default();
        let id = |task: &RawValue| RawObject::parse(task)?.text(TASK_ID);
        let own: Vec<_> = tasks.into_iter().filter(|task| id(task).is_some_and(&is_own)).collect();
        members.set("tasks", to_raw(&own));
        members.to_raw()
    }

    /// Takes note of a task's state, which says how its call ended, if it did.
    async fn see_task(&self, key: &TaskKey, state: &RawValue) {
        if let Some(end) = task_end(state)
            && let Some(ticket) = self.known_tasks.end(key)
        {
            record(ticket, end, state).await;
        }
    }

    /// Takes note of what a service says of a task outside of any request.
    pub(super) fn hear_of_task(&self, message: &UnaskedMessage) {
        let Some(state) = message.params.as_deref().filter(|_| message.method.starts_with("notifications/tasks"))
        else {
            return;
        };
        let id = RawObject::parse(state).and_then(|state| state.text(TASK_ID));
        if let (Some(end), Some(id)) = (task_end(state), id)
            && let Some(ticket) = self.known_tasks.end(&(message.principal.clone(), message.service.clone(), id))
        {
            // Whoever heard of it may leave while it is recorded.
            let state = state.to_owned();
            self.tasks.spawn(async move { record(ticket, end, &state).await });
        }
    }
}

/// Records how the call of a task ended, as the task's last state says.
async fn record(ticket: OpenTicket, end: TaskEnd, state: &RawValue) {
    match end {
        TaskEnd::Completed => {
            // A modern service puts the result of the call there.
            let result = RawObject::parse(state).and_then(|state| state.get("result").map(ToOwned::to_owned));
            ticket.finish(Ok(result.as_deref().unwrap_or(state))).await;
        }
        TaskEnd::Failed(refusal) => ticket.finish(Err(&refusal)).await,
    }
}

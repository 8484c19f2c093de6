//! What the clients of one address see of the catalog: names, lists and capabilities, made once per generation.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use roost_model::time::Timestamp;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::headers::ParamHeader;
use super::lazy_tools;
use super::refusal::McpRefusal;
use crate::catalog::{Catalog, ListedItem, MissingService, OfferedService, TASKS_EXTENSION, Viewer};
use crate::era::Era;
use crate::namespace::Namespace;
use crate::raw_object::{RawObject, to_raw};
use crate::resource_uri;

/// Entries of one page of a list.
const PAGE: usize = 1000;

/// Which part of the catalog a client sees, and under which names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum View {
    /// Every service, with prefixed names.
    All,
    /// Every service, but its tools only through three tools that search, describe and call.
    Lazy,
    /// One service under its own names.
    One(Namespace),
}

/// The four kinds of lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ListKind {
    Tools,
    Prompts,
    Resources,
    Templates,
}

impl ListKind {
    pub(super) const ALL: [Self; 4] = [Self::Tools, Self::Prompts, Self::Resources, Self::Templates];

    /// The member of the result that holds the list.
    fn member(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Prompts => "prompts",
            Self::Resources => "resources",
            Self::Templates => "resourceTemplates",
        }
    }

    /// The capability of a server that has such a list.
    pub(super) fn capability(self) -> &'static str {
        match self {
            Self::Tools => "tools",
            Self::Prompts => "prompts",
            Self::Resources | Self::Templates => "resources",
        }
    }

    /// The member of an entry that names it.
    fn key(self) -> &'static str {
        match self {
            Self::Tools | Self::Prompts => "name",
            Self::Resources => "uri",
            Self::Templates => "uriTemplate",
        }
    }

    fn of(self, service: &OfferedService) -> &[ListedItem] {
        match self {
            Self::Tools => &service.tools,
            Self::Prompts => &service.prompts,
            Self::Resources => &service.resources,
            Self::Templates => &service.resource_templates,
        }
    }
}

/// Where a name of a tool or prompt leads.
#[derive(Clone)]
pub(super) struct Target {
    pub(super) service: Arc<OfferedService>,
    /// The name by which the service knows it.
    pub(super) name: String,
    /// A tool's annotations.
    pub(super) annotations: Option<Box<RawValue>>,
    /// The parameters of a tool that clients also send in headers.
    pub(super) param_headers: Vec<ParamHeader>,
    /// The definition as clients see it.
    pub(super) definition: Box<RawValue>,
}

/// What the clients of one address see of one generation of the catalog.
pub(super) struct Surface {
    pub(super) generation: u64,
    pub(super) view: View,
    pub(super) services: Vec<Arc<OfferedService>>,
    pub(super) missing: Vec<MissingService>,
    tools: HashMap<String, Target>,
    /// The names of the tools in their order.
    tool_names: Vec<String>,
    prompts: HashMap<String, Target>,
    /// The pages of the lists, each a JSON array, in the order of [`ListKind::ALL`].
    pages: [Vec<Box<str>>; 4],
}

impl Surface {
    pub(super) fn new(catalog: &Catalog, view: View, viewer: Viewer, max_name: usize) -> Self {
        let is_seen = |namespace: &Namespace| match &view {
            View::All | View::Lazy => true,
            View::One(one) => one == namespace,
        };
        let is_shown =
            |service: &&Arc<OfferedService>| is_seen(&service.namespace) && service.audience.includes(viewer);
        let services: Vec<_> = catalog.services.iter().filter(is_shown).cloned().collect();
        let missing = catalog.missing.iter().filter(|service| is_seen(&service.namespace)).cloned().collect();
        let mut surface = Self {
            generation: catalog.generation,
            view,
            services,
            missing,
            tools: HashMap::new(),
            tool_names: Vec::new(),
            prompts: HashMap::new(),
            pages: Default::default(),
        };
        for kind in ListKind::ALL {
            let entries = surface.entries(kind, viewer, max_name);
            let entries = match (kind, &surface.view) {
                (ListKind::Tools, View::Lazy) => lazy_tools::definitions(),
                _ => entries,
            };
            let page = |entries: &[Box<RawValue>]| to_raw(entries).get().into();
            let pages: Vec<Box<str>> = entries.chunks(PAGE).map(page).collect();
            surface.pages[kind as usize] = if pages.is_empty() { vec!["[]".into()] } else { pages };
        }
        surface
    }

    /// The entries of a list as clients see them; takes note of the names of tools and prompts.
    fn entries(&mut self, kind: ListKind, viewer: Viewer, max_name: usize) -> Vec<Box<RawValue>> {
        let mut entries = Vec::new();
        for service in self.services.clone() {
            if kind != ListKind::Tools && !service.content_audience.includes(viewer) {
                continue;
            }
            for item in kind.of(&service) {
                let Some((seen, definition)) = self.as_seen(kind, &service.namespace, item, max_name) else { continue };
                let names = match kind {
                    ListKind::Tools => &mut self.tools,
                    ListKind::Prompts => &mut self.prompts,
                    ListKind::Resources | ListKind::Templates => {
                        entries.push(definition);
                        continue;
                    }
                };
                // Of two entries with one name the first counts, and only it is listed.
                if names.contains_key(&seen) {
                    continue;
                }
                let annotations = RawObject::parse(&item.definition)
                    .and_then(|definition| definition.get("annotations").map(ToOwned::to_owned));
                let target = Target {
                    service: service.clone(),
                    name: item.key.clone(),
                    annotations,
                    param_headers: ParamHeader::all(&definition),
                    definition: definition.clone(),
                };
                names.insert(seen.clone(), target);
                if kind == ListKind::Tools {
                    self.tool_names.push(seen);
                }
                entries.push(definition);
            }
        }
        entries
    }

    /// The name and the definition of an entry as clients see them; `None` of what is no object, which no list has.
    fn as_seen(
        &self,
        kind: ListKind,
        namespace: &Namespace,
        item: &ListedItem,
        max_name: usize,
    ) -> Option<(String, Box<RawValue>)> {
        if let View::One(_) = self.view {
            return Some((item.key.clone(), item.definition.clone()));
        }
        let seen = match kind {
            ListKind::Tools | ListKind::Prompts => namespace.qualify(&item.key, max_name),
            ListKind::Resources | ListKind::Templates => resource_uri::qualify(namespace, &item.key),
        };
        let mut definition = RawObject::parse(&item.definition)?;
        definition.set_text(kind.key(), &seen);
        if let Some(meta) = qualified_app(&definition, namespace) {
            definition.set("_meta", meta);
        }
        Some((seen, definition.to_raw()))
    }

    pub(super) fn tool(&self, name: &str) -> Option<&Target> {
        self.tools.get(name)
    }

    /// The tools in their order.
    pub(super) fn tools(&self) -> impl Iterator<Item = (&str, &Target)> {
        self.tool_names.iter().filter_map(|name| Some((name.as_str(), self.tools.get(name)?)))
    }

    pub(super) fn prompt(&self, name: &str) -> Option<&Target> {
        self.prompts.get(name)
    }

    /// The service of a resource, and the address by which it knows it.
    pub(super) fn resource(&self, uri: &str) -> Option<(&Arc<OfferedService>, String)> {
        if let View::One(_) = self.view {
            return Some((self.services.first()?, uri.to_owned()));
        }
        let (namespace, original) = resource_uri::resolve(uri)?;
        let service = self.services.iter().find(|service| service.namespace == namespace)?;
        Some((service, original))
    }

    /// One page of a list: the members of the result without the braces.
    pub(super) fn page(&self, kind: ListKind, cursor: Option<&str>) -> Result<String, McpRefusal> {
        let pages = &self.pages[kind as usize];
        let number = match cursor {
            None => 0,
            Some(cursor) => self.read_cursor(cursor).filter(|number| *number < pages.len()).ok_or_else(|| {
                McpRefusal::invalid_params("this cursor is not valid any more; list again from the start")
            })?,
        };
        let mut page = format!(r#""{}":{}"#, kind.member(), pages[number]);
        if number + 1 < pages.len() {
            page.push_str(&format!(r#","nextCursor":"{}.{}""#, self.generation, number + 1));
        }
        Ok(page)
    }

    fn read_cursor(&self, cursor: &str) -> Option<usize> {
        let (generation, number) = cursor.split_once('.')?;
        (generation.parse() == Ok(self.generation)).then(|| number.parse().ok())?
    }

    /// The kinds of lists in which this surface differs from an earlier one.
    pub(super) fn changes_since(&self, earlier: &Self) -> impl Iterator<Item = ListKind> {
        ListKind::ALL.into_iter().filter(|kind| self.pages[*kind as usize] != earlier.pages[*kind as usize])
    }

    /// Differs for different lists of tools.
    pub(super) fn tools_fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.pages[ListKind::Tools as usize].hash(&mut hasher);
        hasher.finish()
    }

    /// Whether some service has this capability. The aggregate always has lists, because services come and go.
    pub(super) fn has(&self, capability: &str) -> bool {
        matches!((&self.view, capability), (View::All | View::Lazy, "tools" | "prompts" | "resources"))
            || self.services.iter().any(|service| service.profile.capabilities.contains_key(capability))
    }

    /// What this server can do, in the words of the client's era.
    pub(super) fn capabilities(&self, era: &Era) -> Map<String, Value> {
        let mut all = Map::new();
        for list in ["tools", "prompts", "resources"] {
            if self.has(list) {
                // The gateway itself tells of changed lists, whatever the service does.
                let mut one = self.capability_members(list);
                one.insert("listChanged".into(), true.into());
                all.insert(list.into(), one.into());
            }
        }
        for plain in ["completions", "logging"] {
            if self.has(plain) {
                all.insert(plain.into(), json!({}));
            }
        }
        // Tasks and extensions pass only to a service that speaks as the client does.
        match (&self.view, self.services.first()) {
            (View::One(_), Some(service)) if service.speaks_as(era) => {
                for name in ["tasks", "extensions", "experimental"] {
                    if let Some(value) = service.profile.capabilities.get(name) {
                        all.insert(name.into(), value.clone());
                    }
                }
            }
            (View::All | View::Lazy, _) if self.has_tasks(era) => match era {
                Era::Legacy(_) => {
                    let tasks = json!({ "cancel": {}, "requests": { "tools": { "call": {} } } });
                    all.insert("tasks".into(), tasks);
                }
                Era::Modern => {
                    all.insert("extensions".into(), json!({ TASKS_EXTENSION: {} }));
                }
            },
            _ => {}
        }
        all
    }

    /// Whether some service has tasks for clients of this era.
    pub(super) fn has_tasks(&self, era: &Era) -> bool {
        self.services.iter().any(|service| service.has_tasks(era))
    }

    /// For how long the lists are good: as long as every service says so; a tool that is withdrawn meanwhile cannot be
    /// called, and clients that listen are told.
    pub(super) fn good_for(&self) -> Duration {
        let now = Timestamp::now();
        let left = |service: &Arc<OfferedService>| {
            let left = service.good_until.map_or(0, |until| until.as_millis() - now.as_millis());
            Duration::from_millis(u64::try_from(left).unwrap_or_default())
        };
        // The gateway's own tools stay as they are.
        let promising = self.services.iter().filter(|service| !service.namespace.is_reserved());
        match self.missing.is_empty() {
            true => promising.map(left).min().unwrap_or_default(),
            false => Duration::ZERO,
        }
    }

    /// The members that services have under a capability; a true one counts if any service has it.
    fn capability_members(&self, capability: &str) -> Map<String, Value> {
        let mut members = Map::new();
        for service in &self.services {
            let Some(Value::Object(own)) = service.profile.capabilities.get(capability) else { continue };
            for (name, value) in own {
                if members.get(name) != Some(&Value::Bool(true)) {
                    members.insert(name.clone(), value.clone());
                }
            }
        }
        members
    }

    /// The instructions of the services, and which of them are missing.
    pub(super) fn instructions(&self) -> Option<String> {
        let is_one = matches!(self.view, View::One(_));
        let mut parts = Vec::new();
        for service in &self.services {
            match &service.profile.instructions {
                Some(text) if is_one => parts.push(text.clone()),
                Some(text) => parts.push(format!("{}: {text}", service.namespace.as_str())),
                None => {}
            }
        }
        for missing in &self.missing {
            // A model reads this: what a service said before it failed is none of it.
            parts.push(format!("{} cannot be used now: {}", missing.namespace.as_str(), missing.state()));
        }
        (!parts.is_empty()).then(|| parts.join("\n\n"))
    }

    /// The services that cannot be used now, for programs; `None` if there are none.
    pub(super) fn missing_note(&self) -> Option<Value> {
        let note = |missing: &MissingService| {
            json!({
                "service": missing.id,
                "namespace": missing.namespace.as_str(),
                "lifecycle": missing.lifecycle,
                "health": missing.health,
                "reason": missing.reason,
            })
        };
        (!self.missing.is_empty()).then(|| self.missing.iter().map(note).collect())
    }
}

/// The `_meta` of a tool with the address of its app as clients see it; `None` if it has no app.
fn qualified_app(definition: &RawObject<'_>, namespace: &Namespace) -> Option<Box<RawValue>> {
    /// The older spelling of `ui.resourceUri`.
    const FLAT: &str = "ui/resourceUri";
    let mut meta = definition.object("_meta")?;
    let ui = meta.object("ui").and_then(|mut ui| {
        let uri = ui.text("resourceUri")?;
        ui.set_text("resourceUri", &resource_uri::qualify(namespace, &uri));
        Some(ui.to_raw())
    });
    let flat = meta.text(FLAT);
    if ui.is_none() && flat.is_none() {
        return None;
    }
    if let Some(ui) = ui {
        meta.set("ui", ui);
    }
    if let Some(uri) = flat {
        meta.set_text(FLAT, &resource_uri::qualify(namespace, &uri));
    }
    Some(meta.to_raw())
}

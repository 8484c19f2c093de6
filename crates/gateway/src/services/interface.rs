//! What a service offers, listed page by page within bounds.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use roost_model::canonical;
use roost_model::time::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use crate::catalog::ListedItem;
use crate::client_profile::ClientProfile;
use crate::strict_json::{self, is_lookalike};
use crate::upstream::{ConnectError, ServerProfile, Upstream, UpstreamRequest};

/// A list with more pages has no end.
const MAX_PAGES: usize = 1000;
/// More entries than these no client could use.
const MAX_ITEMS: usize = 20_000;
/// The bytes of all definitions of a list.
const MAX_BYTES: usize = 64 << 20;
/// The members of definitions by which entries are told apart, approved and asked about.
const READ_BY_AGENTS: [&str; 9] =
    ["name", "title", "description", "inputSchema", "outputSchema", "annotations", "uri", "uriTemplate", "_meta"];
/// Where the tools are among the lists.
const TOOLS: usize = 0;
/// The code of servers that do not know a method.
const METHOD_NOT_FOUND: i64 = -32601;

/// What a service offers, as it was listed.
#[derive(Debug)]
pub struct Interface {
    /// `iface_` and 12 hex digits of the hash over all definitions: the same for the same definitions.
    pub revision: String,
    /// When it was listed.
    pub listed_at: Timestamp,
    /// For how long the service says that its lists are good (`ttlMs`); `None` if it says nothing or promises nothing.
    pub good_for: Option<Duration>,
    /// Whether it says so of every list.
    pub is_good_as_a_whole: bool,
    /// Whether the service says of a list beside its tools that it is for whoever asked, and for nobody else.
    pub is_private: bool,
    /// What the service said about itself.
    pub profile: ServerProfile,
    /// All its tools, also those that are held back.
    pub tools: Vec<ListedItem>,
    /// Its resources, in the service's order.
    pub resources: Vec<ListedItem>,
    /// Its templates of addresses.
    pub resource_templates: Vec<ListedItem>,
    /// Its prompts, in the service's order.
    pub prompts: Vec<ListedItem>,
    /// What is odd about it, for people.
    pub problems: Vec<String>,
    /// The lists that could not be read, and why; `None` if all could. What was in them before is still there.
    pub unread: Option<String>,
}

/// Lists everything that a service says it has. Each page may take as long as `patience`. Without its tools a service is of
/// no use; of another list that cannot be read, what it had `before` is kept.
pub(super) async fn list(
    upstream: &dyn Upstream,
    client: &ClientProfile,
    patience: Duration,
    before: Option<&Interface>,
) -> Result<Interface, ConnectError> {
    let profile = upstream.profile().clone();
    let mut lister = Lister {
        upstream,
        client,
        patience,
        problems: Vec::new(),
        good_for: None,
        is_good_as_a_whole: true,
        is_private: false,
    };
    let has = |capability: &str| profile.capabilities.contains_key(capability);
    let mut lists = [const { Vec::new() }; 4];
    let mut unread = Vec::new();
    for ((at, list), (capability, method, member, key)) in lists.iter_mut().enumerate().zip([
        ("tools", "tools/list", "tools", "name"),
        ("resources", "resources/list", "resources", "uri"),
        ("resources", "resources/templates/list", "resourceTemplates", "uriTemplate"),
        ("prompts", "prompts/list", "prompts", "name"),
    ]) {
        if !has(capability) {
            continue;
        }
        match lister.pages(method, member, key).await {
            Ok(items) => *list = items,
            Err(error) if at == TOOLS => return Err(error),
            Err(error) => {
                if let Some(before) = before {
                    list.clone_from(before.lists()[at]);
                    lister.is_private |= before.is_private;
                }
                lister.is_good_as_a_whole = false;
                unread.push(match error.message.starts_with(method) {
                    true => error.message,
                    false => format!("{method}: {}", error.message),
                });
            }
        }
    }
    let Lister { mut problems, good_for, is_good_as_a_whole, is_private, .. } = lister;
    problems.extend(unread.iter().cloned());
    let [tools, resources, resource_templates, prompts] = lists;
    let all = [&tools, &resources, &resource_templates, &prompts];
    let revision = revision(&all);
    Ok(Interface {
        revision,
        listed_at: Timestamp::now(),
        good_for,
        is_good_as_a_whole,
        is_private,
        profile,
        tools,
        resources,
        resource_templates,
        prompts,
        problems,
        unread: (!unread.is_empty()).then(|| unread.join("; ")),
    })
}

fn revision(lists: &[&Vec<ListedItem>]) -> String {
    let mut text = String::new();
    for list in lists {
        list.iter().for_each(|item| text.extend([item.definition.get(), "\n"]));
        text.push('\n');
    }
    let hash = canonical::hash_bytes(text.as_bytes());
    let digits = hash.rsplit(':').next().unwrap_or_default();
    format!("iface_{}", digits.get(..12).unwrap_or_default())
}

struct Lister<'a> {
    upstream: &'a dyn Upstream,
    client: &'a ClientProfile,
    patience: Duration,
    problems: Vec<String>,
    /// The shortest time that a page is good for.
    good_for: Option<Duration>,
    is_good_as_a_whole: bool,
    is_private: bool,
}

impl Interface {
    /// The four lists, in the order in which they are read.
    fn lists(&self) -> [&Vec<ListedItem>; 4] {
        [&self.tools, &self.resources, &self.resource_templates, &self.prompts]
    }

    /// Until when clients may keep the lists; `None` if the service does not promise it of all of them.
    pub(super) fn good_until(&self) -> Option<Timestamp> {
        self.end_of_promise().filter(|_| self.is_good_as_a_whole)
    }

    fn end_of_promise(&self) -> Option<Timestamp> {
        let good_for = i64::try_from(self.good_for?.as_millis()).ok()?;
        Some(Timestamp::from_millis(self.listed_at.as_millis().saturating_add(good_for)))
    }

    /// Whether the service said that its lists are good for a time that is over now.
    pub(super) fn is_outdated(&self) -> bool {
        self.end_of_promise().is_some_and(|until| Timestamp::now() >= until)
    }
}

impl Lister<'_> {
    /// All pages of one list; nothing if the server does not know the method.
    async fn pages(&mut self, method: &str, member: &str, key: &str) -> Result<Vec<ListedItem>, ConnectError> {
        let list_error = |what: &str| ConnectError::broken(format!("{method}: {what}"));
        let (mut items, mut keys, mut cursors) = (Vec::new(), HashSet::new(), HashSet::new());
        let (mut cursor, mut bytes): (Option<String>, _) = (None, 0);
        for _ in 0..MAX_PAGES {
            let Some(page) = self.page(method, member, cursor.as_deref()).await? else { return Ok(items) };
            self.is_good_as_a_whole &= page.good_for.is_some();
            self.is_private |= page.is_private && member != "tools";
            self.good_for = [self.good_for, page.good_for].into_iter().flatten().min();
            for definition in page.items {
                bytes += definition.get().len();
                let Some(name) = name_in(&definition, key) else {
                    return Err(list_error(&format!("an entry has no `{key}`")));
                };
                if let Err(why) = check_definition(&definition) {
                    self.problems.push(format!("{method}: \"{name}\" is left out: {why}"));
                    continue;
                }
                match keys.insert(name.clone()) {
                    true => items.push(ListedItem { key: name, definition }),
                    false => self.problems.push(format!("{method}: \"{name}\" is there twice; the first one counts")),
                }
            }
            if items.len() > MAX_ITEMS || bytes > MAX_BYTES {
                return Err(list_error(&format!("it lists more than {MAX_ITEMS} entries or {} MiB", MAX_BYTES >> 20)));
            }
            match page.next {
                None => return Ok(items),
                Some(next) if cursors.insert(next.clone()) => cursor = Some(next),
                Some(_) => return Err(list_error("it gives the same cursor again, so the list never ends")),
            }
        }
        Err(list_error(&format!("the list has more than {MAX_PAGES} pages")))
    }

    async fn page(&self, method: &str, member: &str, cursor: Option<&str>) -> Result<Option<ListPage>, ConnectError> {
        let params = cursor.and_then(|cursor| RawValue::from_string(json!({ "cursor": cursor }).to_string()).ok());
        let request = UpstreamRequest {
            method,
            params: params.as_deref(),
            client: self.client,
            patience: self.patience,
            interjections: None,
        };
        match self.upstream.call(request).await? {
            Ok(result) => parse(&result, member)
                .map(Some)
                .map_err(|what| ConnectError::broken(format!("{method}: the answer cannot be read: {what}"))),
            Err(error) if code(&error) == Some(METHOD_NOT_FOUND) => Ok(None),
            Err(error) => Err(ConnectError::broken(format!("{method}: the service refused: {error}"))),
        }
    }
}

/// One page of a list.
struct ListPage {
    items: Vec<Box<RawValue>>,
    next: Option<String>,
    good_for: Option<Duration>,
    is_private: bool,
}

fn parse(result: &RawValue, member: &str) -> Result<ListPage, String> {
    let members: HashMap<String, &RawValue> = serde_json::from_str(result.get()).map_err(|error| error.to_string())?;
    let items = members.get(member).ok_or_else(|| format!("it has no `{member}`"))?;
    let items = serde_json::from_str(items.get()).map_err(|error| error.to_string())?;
    let next = match members.get("nextCursor") {
        Some(next) => serde_json::from_str(next.get()).map_err(|error| error.to_string())?,
        None => None,
    };
    let ttl = members.get("ttlMs").and_then(|ttl| ttl.get().parse::<u64>().ok()).filter(|ttl| *ttl > 0);
    let is_private = members.get("cacheScope").is_some_and(|scope| scope.get() == r#""private""#);
    Ok(ListPage { items, next, good_for: ttl.map(Duration::from_millis), is_private })
}

fn name_in(definition: &RawValue, key: &str) -> Option<String> {
    let members: HashMap<String, &RawValue> = serde_json::from_str(definition.get()).ok()?;
    serde_json::from_str(members.get(key)?.get()).ok()
}

/// Refuses a definition that clients could read otherwise than whoever approves it here.
fn check_definition(definition: &RawValue) -> Result<(), String> {
    let value = strict_json::parse(definition).map_err(|error| error.to_string())?;
    let members = value.as_object().ok_or("it is no object")?;
    let lookalike = |name: &&String| READ_BY_AGENTS.iter().any(|known| is_lookalike(name, known));
    match members.keys().find(lookalike) {
        Some(name) => Err(format!("some clients would take its member \"{name}\" for another one")),
        None => Ok(()),
    }
}

fn code(error: &RawValue) -> Option<i64> {
    #[derive(Deserialize)]
    struct Coded {
        code: Option<Value>,
    }
    serde_json::from_str::<Coded>(error.get()).ok()?.code?.as_i64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_definitions_that_everybody_reads_alike_are_taken() {
        for (text, is_taken) in [
            (r#"{"name":"a","x-own":1,"_meta":{"Name":2}}"#, true),
            (r#"{"name":"a","name":"b"}"#, false),
            (r#"{"name":"a","inputSchema":{"type":"object","type":"string"}}"#, false),
            (r#"{"name":"a","InputSchema":{}}"#, false),
            (r#"["name"]"#, false),
        ] {
            let definition = RawValue::from_string(text.into()).unwrap();
            assert_eq!(check_definition(&definition).is_ok(), is_taken, "{text}");
        }
    }
}

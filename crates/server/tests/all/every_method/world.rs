//! What the rows are walked on: a server, a repository with a remote, clients, and an agent that does as it is told.

use jsonschema::Draft;
use roost_rpc::{FaultCode, Method, PROTOCOL_VERSION, Scope, openrpc};
use serde_json::{Value, json};
use testkit::DEADLINE;
use tokio::task::JoinSet;

use super::row::{Outcome, Row, Variables, filled, holds};
use crate::kit::{Client, Door};
use crate::player::play;
use crate::stage::unlimited;
use crate::terminal::Terminal;

/// The errors that every client is ready for, so that no method names them.
const USUAL: [FaultCode; 5] = [
    FaultCode::ParseError,
    FaultCode::InvalidRequest,
    FaultCode::MethodNotFound,
    FaultCode::InvalidParams,
    FaultCode::InternalError,
];

/// What the rows are walked on.
pub(super) struct World {
    door: Door,
    terminal: Terminal,
    /// The connection of a paired device.
    client: Client,
    /// The connection of the user at the machine.
    local: Client,
    token: String,
    /// The token of a device with the scope `admin`.
    admin: String,
    document: Value,
    variables: Variables,
    _agents: JoinSet<()>,
}

impl World {
    pub(super) async fn open() -> Self {
        let mut door = Door::open_with(unlimited).await;
        let agents = play(&mut door);
        let terminal = Terminal::open(&door).with_remote();
        let variables = Variables::from([
            ("workspace", json!(door.workspace().await)),
            ("repo", json!(terminal.folder)),
            ("home", json!(terminal.folder.parent())),
            ("gif", json!("GIF89a and the rest of a small picture")),
        ]);
        let (client, local, token) = (door.client().await, door.local().await, door.token().await);
        let admin = door.pair(Some(Scope::Admin)).await["access_token"].as_str().unwrap().to_owned();
        let document = openrpc::document(PROTOCOL_VERSION);
        Self { door, terminal, client, local, token, admin, document, variables, _agents: agents }
    }

    /// Walks one row; why it does not hold.
    pub(super) async fn walk(&mut self, row: &Row) -> Result<(), String> {
        if let Some(first) = row.first {
            first(&self.terminal);
        }
        if let Some(event) = row.once {
            self.client.event(event).await;
        }
        let params = filled(&row.params, &self.variables);
        let (method, outcome) = match row.call.split_once(' ') {
            Some((verb, path)) => self.route(verb, path, &params).await,
            None => self.call(row.call, params).await,
        };
        match (&row.outcome, outcome) {
            (Outcome::Refusal(word), Err(fault)) => {
                self.promised(method, &fault)?;
                holds(&fault["data"]["code"], &json!(word), "the error").map_err(|why| format!("{why}: {fault}"))?;
            }
            (Outcome::Answer(expected) | Outcome::Shaped(expected), Ok(answer)) => {
                if let Outcome::Answer(_) = row.outcome {
                    self.is_as_documented(method, &answer)?;
                }
                for (name, place) in &row.saves {
                    let found = answer.pointer(place).ok_or_else(|| format!("there is no {place} in {answer}"))?;
                    self.variables.insert(name, found.clone());
                }
                holds(&answer, &filled(expected, &self.variables), "").map_err(|why| format!("{why}: {answer}"))?;
            }
            (_, outcome) => return Err(format!("it came to {outcome:?}")),
        }
        for (event, expected) in &row.expects_event {
            let expected = filled(expected, &self.variables);
            // Those of earlier rows may come first.
            let told = async { while holds(&self.client.event(event).await, &expected, "").is_err() {} };
            let told = tokio::time::timeout(DEADLINE / 2, told).await;
            told.map_err(|_| format!("no event {event} came with {expected}"))?;
        }
        Ok(())
    }

    async fn call(&mut self, name: &str, params: Value) -> (Method, Result<Value, Value>) {
        let method = Method::from_name(name).unwrap_or_else(|| panic!("there is no {name}"));
        let client = if method.scope() == Scope::Admin { &mut self.local } else { &mut self.client };
        (method, client.call(name, params).await)
    }

    /// Asks a route; a refusal in the form of JSON-RPC.
    async fn route(&self, verb: &str, path: &str, params: &Value) -> (Method, Result<Value, Value>) {
        let all = Method::ALL.iter().flat_map(|method| method.routes());
        let route = all.into_iter().find(|route| route.verb.name() == verb && route.path == path);
        let method = route.unwrap_or_else(|| panic!("there is no {verb} {path}")).method;
        let (path, params) = with_path_params(path, params);
        let token = if method.scope() == Scope::Admin { &self.admin } else { &self.token };
        let authorization = format!("Bearer {token}");
        let headers = [("Authorization", authorization.as_str()), ("Content-Type", "application/json")];
        let (line, body) = match verb {
            "POST" => (format!("POST {path}"), params.to_string()),
            _ => (format!("{verb} {path}?{}", query(&params)), String::new()),
        };
        let (status, _, body) = self.door.http(&line, &headers, &body).await;
        let body: Value = serde_json::from_str(&body).unwrap_or_else(|_| panic!("{line}: {status} {body}"));
        if status == 200 && body.get("code").is_none() {
            return (method, Ok(body));
        }
        let code = FaultCode::ALL.iter().find(|code| json!(code.word()) == body["code"]).unwrap();
        // What git itself refused to do is an answer to these clients.
        assert!(status == code.status() || status == 200 && verb == "POST", "{line}: {status} {body}");
        assert!(body["error"].is_string(), "{line}: {body}");
        (method, Err(json!({ "code": code.number(), "message": body["error"], "data": body["details"] })))
    }

    fn described(&self, method: Method) -> &Value {
        let methods = self.document["methods"].as_array().unwrap();
        methods.iter().find(|described| described["name"] == method.name()).unwrap()
    }

    /// The answer is what the document says.
    fn is_as_documented(&self, method: Method, answer: &Value) -> Result<(), String> {
        let schema = &self.described(method)["result"]["schema"];
        let schema = json!({ "allOf": [schema], "components": self.document["components"] });
        let validator = jsonschema::options().with_draft(Draft::Draft7).build(&schema).unwrap();
        let wrong: Vec<_> =
            validator.iter_errors(answer).map(|error| format!("{}: {error}", error.instance_path())).collect();
        if wrong.is_empty() { Ok(()) } else { Err(format!("not as documented: {wrong:?}")) }
    }

    /// The document says that this error may come.
    fn promised(&self, method: Method, fault: &Value) -> Result<(), String> {
        let code = FaultCode::ALL.iter().find(|code| json!(code.number()) == fault["code"]).unwrap();
        let reference = format!("#/components/errors/{code:?}");
        let promised = self.described(method)["errors"].as_array().unwrap();
        if USUAL.contains(code) || promised.iter().any(|error| error["$ref"] == reference) {
            return Ok(());
        }
        Err(format!("the document does not say that {code:?} may come: {fault}"))
    }
}

/// A route's path with its parts in braces filled in, and the parameters that are left.
fn with_path_params(path: &str, params: &Value) -> (String, Value) {
    let (mut path, mut left) = (path.to_owned(), params.clone());
    for (name, value) in params.as_object().unwrap() {
        let part = format!("{{{name}}}");
        if path.contains(&part) {
            path = path.replace(&part, value.as_str().unwrap());
            left.as_object_mut().unwrap().remove(name);
        }
    }
    (path, left)
}

/// Parameters as the query string of a URL.
pub(crate) fn query(params: &Value) -> String {
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), ToOwned::to_owned);
    let escaped = |text: String| -> String {
        text.bytes()
            .map(|byte| match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'/' => char::from(byte).to_string(),
                byte => format!("%{byte:02X}"),
            })
            .collect()
    };
    let pairs = params.as_object().unwrap().iter();
    pairs.map(|(name, value)| format!("{name}={}", escaped(text(value)))).collect::<Vec<_>>().join("&")
}

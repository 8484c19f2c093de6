//! `roost services login`: a person logs in at a remote service, in a browser on this machine.

use std::io::Write;
use std::net::Ipv4Addr;
use std::time::Duration;

use roost_client::Client;
use roost_rpc::{ServiceLoginFinishParams, ServiceLoginParams, ServiceRecord, method};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

use crate::cmd::secrets::ask_for;
use crate::error::Error;
use crate::screen::{self, one_line};

/// The path to which the browser is sent back.
const PATH: &str = "/callback";
/// The longest head of a request that is read.
const MAX_HEAD: u64 = 64 * 1024;
/// How long a browser may take to say what it wants.
const PATIENCE: Duration = Duration::from_secs(10);
const DONE: &str = "Roost has the answer. The terminal says whether you are logged in; this page can be closed.\n";

/// How a person logs in.
#[derive(clap::Args)]
pub(crate) struct LoginOptions {
    /// A client that you registered at the service's login yourself [default: Roost registers itself]
    #[arg(long, value_name = "ID")]
    client_id: Option<String>,
    /// Read the secret of that client from stdin, or ask for it
    #[arg(long, requires = "client_id")]
    client_secret_stdin: bool,
    /// The address of a document that describes this client, for logins that read it instead of a registration
    #[arg(long, value_name = "URL", conflicts_with = "client_id")]
    client_metadata_url: Option<String>,
    /// A right to ask for; can be repeated [default: what the service wants]
    #[arg(long = "scope", value_name = "SCOPE")]
    scopes: Vec<String>,
}

/// Shows the address where the person logs in, waits for the browser to come back, and keeps the login.
pub(super) async fn log_in(client: &Client, service_id: String, options: LoginOptions) -> Result<ServiceRecord, Error> {
    let LoginOptions { client_id, client_secret_stdin, client_metadata_url, scopes } = options;
    let client_secret = match (client_secret_stdin, &client_id) {
        (true, Some(client_id)) => Some(ask_for(client_id).await?),
        _ => None,
    };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(Error::LoginAddress)?;
    let origin = format!("http://{}", listener.local_addr().map_err(Error::LoginAddress)?);
    let params = ServiceLoginParams {
        service_id: service_id.clone(),
        redirect_uri: format!("{origin}{PATH}"),
        client_id,
        client_secret,
        client_metadata_url,
        scopes: (!scopes.is_empty()).then_some(scopes),
    };
    let login = client.call::<method::ServiceLoginBegin>(params).await?;
    let address = one_line(&login.url);
    writeln!(screen::stderr(), "Open this address in a browser on this machine, log in and agree:\n  {address}")
        .map_err(Error::Output)?;
    let target = came_back(&listener).await.map_err(Error::LoginAddress)?;
    let (login_id, redirected_to) = (login.login_id, format!("{origin}{target}"));
    let params = ServiceLoginFinishParams { service_id, login_id, redirected_to };
    Ok(client.call::<method::ServiceLoginFinish>(params).await?.service)
}

/// Waits for the browser; the path and query that it was sent to.
async fn came_back(listener: &TcpListener) -> std::io::Result<String> {
    loop {
        let (mut stream, _) = listener.accept().await?;
        let Ok(Ok(target)) = tokio::time::timeout(PATIENCE, target(&mut stream)).await else { continue };
        let is_callback = target.strip_prefix(PATH).is_some_and(|rest| rest.starts_with('?'));
        let (status, text) = if is_callback { ("200 OK", DONE) } else { ("404 Not Found", "") };
        let length = text.len();
        let head =
            format!("HTTP/1.1 {status}\r\nContent-Type: text/plain\r\nContent-Length: {length}\r\nConnection: close");
        // The browser may be gone; its answer is here.
        let _ = stream.write_all(format!("{head}\r\n\r\n{text}").as_bytes()).await;
        let _ = stream.shutdown().await;
        if is_callback {
            return Ok(target);
        }
    }
}

/// The target of a request. Its head is read to the end: a connection that is closed with something unread is reset.
async fn target(stream: &mut TcpStream) -> std::io::Result<String> {
    let mut lines = BufReader::new(stream).take(MAX_HEAD).lines();
    let first = lines.next_line().await?.unwrap_or_default();
    while lines.next_line().await?.is_some_and(|line| !line.is_empty()) {}
    Ok(first.strip_prefix("GET ").and_then(|rest| rest.split(' ').next()).unwrap_or_default().to_owned())
}

//! `roost services`: the MCP servers whose tools agents get through Roost.

mod agent_flags;
mod call;
mod compiler;
pub(crate) mod declare;
pub(crate) mod local_module;
mod login;
mod show;
pub(crate) mod starting;

use std::path::PathBuf;

use roost_client::Client;
use roost_model::service::Lifecycle;
use roost_rpc::{
    NoParams, ServiceApplyParams, ServiceApproveParams, ServiceDetailsParams, ServiceLogsParams, ServiceParams,
    ServiceRecord, ServiceRemoveParams, ServiceResult, ServiceSummary, Typed, method,
};
use serde_json::{Map, Value};

use self::login::LoginOptions;
use crate::cli::Context;
use crate::connect;
use crate::error::Error;
use crate::exit::Exit;
use crate::screen::{self, one_line};
use crate::stderr::print_stderr;

const EXAMPLES: &str = "\
Examples:
  roost services                     list the services
  roost services add-stdio -- npx -y @modelcontextprotocol/server-everything
                                     add a program that speaks MCP
  roost services add-remote --endpoint https://mcp.example.com/mcp --module docs
                                     add a server at an address
  roost services add dice.clarity    compile a Clarity source and add it
  roost services details docs        its state, tools, log and last events
  roost services logs -f docs        follow its log
  roost services login docs          log in where its address asks for it
  roost services call docs search '{\"query\": \"x\"}'
                                     call a tool yourself
  roost services approve docs        accept tools that have changed
  roost services remove docs         stop it and forget it

A service is an MCP server: a program that Roost starts, an address, or a wasm
module. Agents that Roost runs get its tools as NAME__TOOL, and the rules and
questions for their own tools hold for these, too.";

/// Add, watch and control MCP services: the tools that agents get through Roost
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Args {
    #[command(subcommand)]
    action: Option<ServicesAction>,
    /// Print the answer of the daemon as JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(clap::Subcommand)]
enum ServicesAction {
    /// Add a wasm module, or compile a Clarity source and add that, and start it
    Add(local_module::LocalModule),
    /// Compile all Clarity sources of a folder, and add and start them
    AddAll(local_module::LocalModules),
    /// Add a server at an address, and start it
    AddRemote(declare::Remote),
    /// Add a program that speaks MCP on its standard input and output, and start it
    AddStdio(declare::StdioProgram),
    /// Apply a manifest from a file of JSON (`-` for stdin): adds the service, or changes it
    Apply {
        /// A manifest as JSON; - reads it from stdin
        file: PathBuf,
    },
    /// List the services
    List,
    /// Show the state and health of a service
    Status(Service),
    /// Start a service
    Start(Service),
    /// Stop a service
    Stop(Service),
    /// Stop a service if it runs, and start it
    Restart(Service),
    /// List again what a service offers
    Introspect(Service),
    /// Show everything about a service: state, tools, log and last events
    Details(Service),
    /// Show the log of a service
    Logs {
        #[command(flatten)]
        service: Service,
        /// Wait for more lines until you press Ctrl-C
        #[arg(short, long)]
        follow: bool,
        /// The most lines to begin with
        #[arg(short = 'n', long, default_value_t = 200)]
        lines: u32,
    },
    /// Call a tool of a service, with the same rules and questions as an agent's call
    Call {
        #[command(flatten)]
        service: Service,
        /// The tool, as the service names it
        tool: String,
        /// Its arguments as a JSON object
        arguments: Option<String>,
    },
    /// Log in at a remote service in a browser on this machine, and start it
    Login {
        #[command(flatten)]
        service: Service,
        #[command(flatten)]
        options: LoginOptions,
    },
    /// Stop a service and forget it
    Remove(Service),
    /// Let a service that failed too often be started again
    Unquarantine(Service),
    /// Accept tools that are new or have changed, so that agents get them
    Approve {
        #[command(flatten)]
        service: Service,
        /// The tools, as the service names them [default: all that are held back]
        tools: Vec<String>,
    },
}

/// The argument that names a service.
#[derive(clap::Args)]
struct Service {
    /// Its name or id
    service: String,
}

pub(crate) async fn run(args: Args, context: &Context) -> Result<Exit, Error> {
    let client = connect::open(context).await?;
    let services = Services { client, json: args.json };
    match args.action {
        None | Some(ServicesAction::List) => services.list().await,
        Some(ServicesAction::Add(local)) => {
            let built = local.build().await?;
            services.add(built.manifest(&local.options.entry, &local.options.agent)?, true).await
        }
        Some(ServicesAction::AddAll(all)) => services.add_all(all).await,
        Some(ServicesAction::AddRemote(remote)) => services.add(remote.manifest()?, !remote.common.no_start).await,
        Some(ServicesAction::AddStdio(program)) => services.add(program.manifest()?, !program.common.no_start).await,
        Some(ServicesAction::Apply { file }) => services.add(declare::read(&file).await?, false).await,
        Some(ServicesAction::Status(named)) => services.status(&named).await,
        Some(ServicesAction::Start(named)) => {
            let params = services.find(&named).await?;
            services.report(services.started::<method::ServiceStart>(params).await?)
        }
        Some(ServicesAction::Stop(named)) => {
            let params = services.find(&named).await?;
            services.report(services.client.call::<method::ServiceStop>(params).await?.service)
        }
        Some(ServicesAction::Restart(named)) => {
            let params = services.find(&named).await?;
            services.report(services.started::<method::ServiceRestart>(params).await?)
        }
        Some(ServicesAction::Unquarantine(named)) => {
            let params = services.find(&named).await?;
            services.report(services.client.call::<method::ServiceUnquarantine>(params).await?.service)
        }
        Some(ServicesAction::Introspect(named)) => services.introspect(&named).await,
        Some(ServicesAction::Details(named)) => services.details(&named).await,
        Some(ServicesAction::Logs { service, follow, lines }) => services.logs(&service, lines, follow).await,
        Some(ServicesAction::Call { service, tool, arguments }) => {
            services.call(context, &service, &tool, arguments.as_deref()).await
        }
        Some(ServicesAction::Login { service, options }) => services.log_in(&service, options).await,
        Some(ServicesAction::Remove(named)) => services.remove(&named).await,
        Some(ServicesAction::Approve { service, tools }) => services.approve(&service, tools).await,
    }
}

/// The daemon's services, and how to print them.
struct Services {
    client: Client,
    json: bool,
}

impl Services {
    async fn all(&self) -> Result<Vec<ServiceSummary>, Error> {
        Ok(self.client.call::<method::ServiceList>(NoParams {}).await?.items)
    }

    /// The service of this id or name.
    async fn find(&self, named: &Service) -> Result<ServiceParams, Error> {
        let (all, name) = (self.all().await?, named.service.as_str());
        let is_it =
            |one: &&ServiceSummary| one.service_id.as_str() == name || one.namespace == name || one.module == name;
        match all.iter().find(is_it) {
            Some(found) => Ok(ServiceParams { service_id: found.service_id.to_string() }),
            None => {
                let known = all.into_iter().map(|one| one.namespace).collect();
                Err(Error::UnknownService { name: name.to_owned(), known })
            }
        }
    }

    async fn list(&self) -> Result<Exit, Error> {
        let all = self.all().await?;
        match self.json {
            true => all.iter().try_for_each(screen::print_json)?,
            false => screen::print(&show::list(&all).map_err(Error::Output)?)?,
        }
        Ok(Exit::Completed)
    }

    async fn add(&self, manifest: Map<String, Value>, starts: bool) -> Result<Exit, Error> {
        let applied = self.client.call::<method::ServiceApply>(ServiceApplyParams { manifest }).await?;
        for warning in &applied.warnings {
            print_stderr(format_args!("{}", one_line(&format!("warning: {warning}"))));
        }
        let mut service = applied.service;
        if starts && service.runtime.enabled {
            let params = ServiceParams { service_id: service.service_id.to_string() };
            service = self.started::<method::ServiceStart>(params).await?;
        }
        self.report(service)
    }

    /// Starts a service, or starts it again. A program may first be downloaded, and a module compiled.
    async fn started<M>(&self, params: ServiceParams) -> Result<ServiceRecord, Error>
    where
        M: Typed<Params = ServiceParams, Result = ServiceResult>,
    {
        let look = || self.request::<method::ServiceGet>(params.clone());
        Ok(starting::watched(self.request::<M>(params.clone()), look).await?.service)
    }

    async fn request<M: Typed>(&self, params: M::Params) -> Result<M::Result, Error> {
        Ok(self.client.call::<M>(params).await?)
    }

    /// Adds every source that can be added; one that cannot does not keep the others from it.
    async fn add_all(&self, all: local_module::LocalModules) -> Result<Exit, Error> {
        let sources = all.sources()?;
        if sources.is_empty() {
            print_stderr(format_args!("there are no .clarity files in {}", all.dir.display()));
        }
        let mut exit = Exit::Completed;
        for source in sources {
            let added = async {
                let built = all.options.build(&source, &local_module::ModuleNames::default()).await?;
                self.add(built.manifest(&all.options.entry, &all.options.agent)?, true).await
            };
            match added.await {
                Ok(Exit::Completed) => {}
                Ok(failed) => exit = failed,
                Err(error) => {
                    print_stderr(format_args!("roost: {error}"));
                    exit = Exit::Failed;
                }
            }
        }
        Ok(exit)
    }

    async fn status(&self, named: &Service) -> Result<Exit, Error> {
        let params = self.find(named).await?;
        let service = self.client.call::<method::ServiceGet>(params).await?.service;
        match self.json {
            true => screen::print_json(&service)?,
            false => screen::print(&show::record(&service))?,
        }
        Ok(Exit::Completed)
    }

    /// Prints how a service is after a command; it failed if the service did.
    fn report(&self, service: ServiceRecord) -> Result<Exit, Error> {
        match self.json {
            true => screen::print_json(&service)?,
            false => screen::print(&show::outcome(&service))?,
        }
        let has_failed = matches!(service.runtime.lifecycle, Lifecycle::Crashed | Lifecycle::Quarantined);
        Ok(if has_failed { Exit::Failed } else { Exit::Completed })
    }

    async fn introspect(&self, named: &Service) -> Result<Exit, Error> {
        let params = self.find(named).await?;
        let interface = self.client.call::<method::ServiceIntrospect>(params).await?.interface;
        match self.json {
            true => screen::print_json(&interface)?,
            false => screen::print(&show::interface(&interface).map_err(Error::Output)?)?,
        }
        Ok(Exit::Completed)
    }

    async fn details(&self, named: &Service) -> Result<Exit, Error> {
        let ServiceParams { service_id } = self.find(named).await?;
        let params = ServiceDetailsParams { service_id, log_limit: None, event_limit: Some(20), call_limit: None };
        let details = self.client.call::<method::ServiceDetailsGet>(params).await?;
        match self.json {
            true => screen::print_json(&details)?,
            false => screen::print(&show::details(&details).map_err(Error::Output)?)?,
        }
        Ok(Exit::Completed)
    }

    async fn logs(&self, named: &Service, lines: u32, follow: bool) -> Result<Exit, Error> {
        let ServiceParams { service_id } = self.find(named).await?;
        let (mut after, mut waits) = (0, false);
        loop {
            let params = ServiceLogsParams {
                service_id: service_id.clone(),
                limit: Some(if waits { u32::MAX } else { lines }),
                after: Some(after),
                follow: Some(waits),
            };
            let read = self.client.call::<method::ServiceLogs>(params).await?;
            for line in &read.lines {
                if self.json { screen::print_json(line)? } else { screen::print(&one_line(line))? }
            }
            if !follow {
                return Ok(Exit::Completed);
            }
            (after, waits) = (read.last, true);
        }
    }

    async fn call(
        &self,
        context: &Context,
        named: &Service,
        tool: &str,
        arguments: Option<&str>,
    ) -> Result<Exit, Error> {
        let arguments = call::arguments(arguments)?;
        let ServiceParams { service_id } = self.find(named).await?;
        let is_it = |one: &ServiceSummary| one.service_id.as_str() == service_id;
        let namespace = self.all().await?.into_iter().find(is_it).map(|one| one.namespace).unwrap_or_default();
        let result = call::call(&context.state.socket()?, &namespace, tool, arguments).await?;
        match self.json {
            true => screen::print_json(&result)?,
            false => screen::print(&call::text(&result))?,
        }
        let has_failed = result["isError"] == true || result["resultType"] == "input_required";
        Ok(if has_failed { Exit::Failed } else { Exit::Completed })
    }

    async fn log_in(&self, named: &Service, options: LoginOptions) -> Result<Exit, Error> {
        let params = self.find(named).await?;
        let service = login::log_in(&self.client, params.service_id.clone(), options).await?;
        if service.runtime.lifecycle == Lifecycle::Quarantined {
            self.client.call::<method::ServiceUnquarantine>(params.clone()).await?;
        }
        // What failed for want of a login is tried with it.
        self.report(self.started::<method::ServiceRestart>(params).await?)
    }

    async fn remove(&self, named: &Service) -> Result<Exit, Error> {
        let ServiceParams { service_id } = self.find(named).await?;
        let params = ServiceRemoveParams { service_id, cleanup_artifacts: None };
        let removed = self.client.call::<method::ServiceRemove>(params).await?;
        let words = || format!("{} is removed, with its approvals.", one_line(&named.service));
        if self.json {
            screen::print_json(&removed)?
        } else {
            screen::print(&words())?
        }
        Ok(Exit::Completed)
    }

    async fn approve(&self, named: &Service, tools: Vec<String>) -> Result<Exit, Error> {
        let ServiceParams { service_id } = self.find(named).await?;
        let before = self.client.call::<method::ServiceGet>(ServiceParams { service_id: service_id.clone() }).await?;
        let revision = before.service.interface_snapshot.and_then(|listed| listed.interface_revision);
        let is_meant = |name: &String| tools.is_empty() || tools.contains(name);
        let changes = before.service.held_back.into_iter().filter(|one| is_meant(&one.tool)).collect::<Vec<_>>();
        let tools = (!tools.is_empty()).then_some(tools);
        // What is printed is what is approved, also if the service changes its tools in between.
        let params = ServiceApproveParams { service_id, tools, revision };
        let service = self.client.call::<method::ServiceApprove>(params).await?.service;
        match self.json {
            true => screen::print_json(&service)?,
            false => screen::print(&show::approved(&changes))?,
        }
        Ok(Exit::Completed)
    }
}

//! `daemon/*`, `device/*` and `pair/create`: the daemon's own state, its devices, and its end.

use roost_log::Health;
use roost_model::ids::DeviceId;
use roost_rpc::{
    DaemonStatus, Device, DeviceApproveParams, DeviceListResult, DeviceRevokeParams, DeviceTokenParams,
    DeviceTokenResult, Fault, FaultCode, LogHealth, NoParams, PairParams, PairResult, Scope, Success, WaitingDevice,
    WaitingDevicesResult,
};

use crate::auth::{Auth, AuthError, PendingRequest};
use crate::dispatch::Context;
use crate::fault;
use crate::host::Daemon;

pub(crate) async fn devices(context: &Context<'_>, _: NoParams) -> Result<DeviceListResult, Fault> {
    let devices = context.host.auth.devices.list().await.into_iter();
    let shaped = devices.map(|device| Device {
        connections: context.host.presence.device_connections(device.device_id.as_str()) as u64,
        device_id: device.device_id.to_string(),
        name: device.name,
        scope: device.scope,
        paired_at: device.paired_at,
        last_seen: Some(device.last_seen),
        remote_addr: device.facts.remote_addr,
        expires_at: device.expires_at,
    });
    Ok(DeviceListResult { devices: shaped.collect() })
}

pub(crate) async fn revoke(access: &Auth, params: DeviceRevokeParams) -> Result<Success, Fault> {
    access.devices.revoke_device(&DeviceId::from(params.device_id)).await.map_err(auth)?;
    Ok(Success::DONE)
}

/// Makes the token of a program. One with the scope `admin` would be a login that nobody notices.
pub(crate) async fn token(access: &Auth, params: DeviceTokenParams) -> Result<DeviceTokenResult, Fault> {
    let scope = params.scope.unwrap_or_default();
    if scope > Scope::Operate {
        let why = "the token of a program has the scope observe or operate; pair a device for admin";
        return Err(Fault::new(FaultCode::InvalidParams, why).with("field", "scope"));
    }
    let made = access.devices.program_token(&params.name, scope).await.map_err(auth)?;
    Ok(DeviceTokenResult {
        device_id: made.device_id.to_string(),
        token: made.token.reveal().to_owned(),
        scope: made.scope,
        expires_at: made.expires_at,
    })
}

pub(crate) async fn waiting(access: &Auth, _: NoParams) -> Result<WaitingDevicesResult, Fault> {
    let shaped = |request: PendingRequest| {
        let PendingRequest { request_id, remote_addr, user_agent, name, created_at, expires_at } = request;
        WaitingDevice { request_id, remote_addr, user_agent, name, created_at, expires_at }
    };
    let pending: Vec<_> = access.devices.pending().await.into_iter().map(shaped).collect();
    Ok(WaitingDevicesResult { count: pending.len() as u64, pending })
}

pub(crate) async fn approve(access: &Auth, params: DeviceApproveParams) -> Result<Success, Fault> {
    let answered = match params.reject {
        Some(true) => access.devices.reject(&params.request_id).await,
        _ => access.devices.approve(&params.request_id).await,
    };
    answered.map_err(auth)?;
    Ok(Success::DONE)
}

pub(crate) async fn pair(access: &Auth, params: PairParams) -> Result<PairResult, Fault> {
    access.offer(params.scope.unwrap_or_default(), None).await.map_err(auth)
}

pub(crate) async fn status(context: &Context<'_>, _: NoParams) -> Result<DaemonStatus, Fault> {
    let host = context.host;
    let log = match &*host.sessions.log.health().borrow() {
        Health::Ok => LogHealth::Ok,
        Health::Stalled { reason, .. } => LogHealth::Stalled(reason.to_string()),
        Health::Failed { reason } => LogHealth::Failed(reason.to_string()),
    };
    let storage = host.sessions.log.storage().await.ok();
    let locks = host.auth.devices.locks().await;
    Ok(DaemonStatus {
        pid: std::process::id(),
        version: host.daemon.version.clone(),
        address: host.auth.endpoint.address.map(|address| address.to_string()),
        uptime_seconds: host.daemon.uptime_seconds(),
        clients: host.presence.count() as u64,
        running_tasks: host.sessions.log.open_tasks().await.map_err(fault::log)?.len() as u64,
        pending: host.sessions.log.pending(None).await.map_err(fault::log)?.len() as u64,
        devices: host.auth.devices.list().await.len() as u64,
        locked_addresses: locks.addresses.iter().map(ToString::to_string).collect(),
        code_withdrawn: locks.code_withdrawn,
        auto_started: host.settings.auto_started,
        log: log.to_string(),
        log_bytes: storage.map(|storage| storage.used),
        free_bytes: storage.map(|storage| storage.free),
    })
}

pub(crate) async fn stop(daemon: &Daemon, _: NoParams) -> Result<Success, Fault> {
    daemon.stop_asked.cancel();
    Ok(Success::DONE)
}

fn auth(error: AuthError) -> Fault {
    let code = match error {
        AuthError::UnknownDevice(_) | AuthError::UnknownRequest(_) | AuthError::NoName => FaultCode::InvalidParams,
        _ => FaultCode::InternalError,
    };
    Fault::new(code, error)
}

//! `secret/*`: references to secrets of services, and the files that hold them.

use roost_gateway::secrets::{CheckedReference, KEYRING, PROVIDERS, SecretError, Secrets};
use roost_rpc::{
    Fault, FaultCode, NoParams, SecretCheck, SecretDeleted, SecretListResult, SecretParams, SecretProvider,
    SecretProvidersResult, SecretSetParams, SecretWritten, StoredSecret,
};

use crate::blocking::blocking;
use crate::dispatch::Context;

const FILE: &str = "file:";

pub(crate) async fn list(context: &Context<'_>, _: NoParams) -> Result<SecretListResult, Fault> {
    let paths = with(context, Secrets::list).await?.map_err(shape)?;
    let item = |path: String| StoredSecret { auth_ref: format!("{FILE}{path}"), relative_path: path };
    Ok(SecretListResult { count: paths.len() as u64, items: paths.into_iter().map(item).collect() })
}

pub(crate) async fn providers(context: &Context<'_>, _: NoParams) -> Result<SecretProvidersResult, Fault> {
    let look = |secrets: &Secrets| {
        let (root, keyring) = (secrets.root(), secrets.check_keyring());
        (root.display().to_string(), root.is_dir(), keyring.err())
    };
    let (file_root, file_root_exists, no_keyring) = with(context, look).await?;
    let provider = |name: &str| {
        let issue = no_keyring.clone().filter(|_| name == KEYRING);
        SecretProvider { name: name.into(), supported: issue.is_none(), issue }
    };
    Ok(SecretProvidersResult { providers: PROVIDERS.map(provider).into(), file_root, file_root_exists })
}

pub(crate) async fn validate(context: &Context<'_>, params: SecretParams) -> Result<SecretCheck, Fault> {
    let auth_ref = params.auth_ref.clone();
    let checked = with(context, move |secrets| secrets.check(&params.auth_ref)).await?;
    let CheckedReference { provider, redacted_target, issues, header_keys, source } = checked;
    Ok(SecretCheck {
        // Who may ask gave it; of what it leads to, only the redacted form is returned, also as `target`.
        auth_ref,
        provider: provider.map(Into::into),
        target: redacted_target.clone(),
        redacted_target,
        valid: issues.is_empty(),
        issues,
        header_keys,
        source: source.into(),
    })
}

pub(crate) async fn set(context: &Context<'_>, params: SecretSetParams) -> Result<SecretWritten, Fault> {
    let auth_ref = params.auth_ref.clone();
    with(context, move |secrets| secrets.set(&params.auth_ref, &params.secret)).await?.map_err(shape)?;
    let (provider, path) = place(&auth_ref);
    Ok(SecretWritten { path, auth_ref, provider, written: true })
}

pub(crate) async fn delete(context: &Context<'_>, params: SecretParams) -> Result<SecretDeleted, Fault> {
    let auth_ref = params.auth_ref.clone();
    with(context, move |secrets| secrets.delete(&params.auth_ref)).await?.map_err(shape)?;
    let (provider, path) = place(&auth_ref);
    Ok(SecretDeleted { path, auth_ref, provider, deleted: true })
}

/// The provider of a reference that could be set, and the name of the secret there.
fn place(auth_ref: &str) -> (String, String) {
    let (provider, name) = auth_ref.split_once(':').unwrap_or_default();
    (provider.to_owned(), name.to_owned())
}

/// Does something with the secrets where it may wait for the disk.
async fn with<T: Send + 'static>(
    context: &Context<'_>,
    work: impl FnOnce(&Secrets) -> T + Send + 'static,
) -> Result<T, Fault> {
    let secrets = context.host.secrets.clone();
    blocking(move || work(&secrets)).await
}

fn shape(error: SecretError) -> Fault {
    match error {
        SecretError::Folder { .. } => Fault::new(FaultCode::InternalError, error),
        error => Fault::params(error).with("field", "auth_ref"),
    }
}

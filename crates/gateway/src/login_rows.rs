//! Logins at remote services, as secret rows beside the log.

use std::sync::Arc;

use async_trait::async_trait;
use roost_log::{Log, RowChange, RowKind};
use roost_model::ids::ServiceId;
use roost_model::secret::Secret;

use crate::upstream::{LoginKey, LoginStore};

/// Keeps each login in a row of its own, which no event repeats.
pub struct LoginRows(pub Arc<dyn Log>);

impl LoginRows {
    async fn change(&self, key: &LoginKey, body: Option<String>) -> Result<(), String> {
        let change = RowChange { kind: RowKind::Secret, id: row_id(key), body };
        self.0.keep(vec![change], Vec::new()).await.map_err(|error| error.to_string())
    }
}

fn row_id(key: &LoginKey) -> String {
    format!("{}{}", prefix(&key.service), key.owner)
}

/// How the ids of all rows of a service begin.
fn prefix(service: &ServiceId) -> String {
    format!("login:{service}:")
}

#[async_trait]
impl LoginStore for LoginRows {
    async fn load(&self, key: &LoginKey) -> Result<Option<Secret>, String> {
        let row = self.0.row(RowKind::Secret, &row_id(key)).await.map_err(|error| error.to_string())?;
        Ok(row.map(Secret::from))
    }

    async fn save(&self, key: &LoginKey, login: Secret) -> Result<(), String> {
        self.change(key, Some(login.expose().to_owned())).await
    }

    async fn remove(&self, key: &LoginKey) -> Result<(), String> {
        self.change(key, None).await
    }

    async fn remove_all(&self, service: &ServiceId) -> Result<(), String> {
        let rows = self.0.rows(RowKind::Secret).await.map_err(|error| error.to_string())?;
        let ids = rows.into_iter().map(|(id, _)| id).filter(|id| id.starts_with(&prefix(service)));
        let changes = ids.map(|id| RowChange { kind: RowKind::Secret, id, body: None }).collect();
        self.0.keep(changes, Vec::new()).await.map_err(|error| error.to_string())
    }
}

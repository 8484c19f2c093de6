//! Events about the services of the MCP gateway.

use serde::{Deserialize, Serialize};

use crate::ids::ServiceId;
use crate::service::{Health, Lifecycle};
use crate::time::Timestamp;

payload! {
    /// `service.manifest_applied`: a service was declared, or declared anew.
    ServiceManifestAppliedPayload {
        /// The service that was declared.
        service_id: ServiceId,
        /// 1 for the first manifest of the service, one more for each further one.
        version: u64,
        /// The name that its tools begin with.
        namespace: String,
        /// Whether it may be started.
        enabled: bool,
    }
}

payload! {
    /// `service.state_changed`: where a service is in its life, or what was found of its health, has changed.
    ServiceStateChangedPayload {
        /// The service whose state changed.
        service_id: ServiceId,
        /// Where it was before.
        before: Lifecycle,
        /// Where it is now.
        lifecycle: Lifecycle,
        /// What the last look at it found.
        health: Health,
        /// Why it last failed, at most 2 KiB; absent if it runs well.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
        /// When it is tried again by itself; absent if it is not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        next_attempt: Option<Timestamp>,
        /// How often it was started again by itself since somebody started it.
        restart_count: u32,
    }
}

payload! {
    /// `service.interface_refreshed`: what a service offers was listed and is not what it was.
    ServiceInterfaceRefreshedPayload {
        /// The service that was listed.
        service_id: ServiceId,
        /// Names this interface: the same for the same definitions.
        revision: String,
        /// The number of its tools.
        tools: u64,
        /// The number of its resources.
        resources: u64,
        /// The number of its prompts.
        prompts: u64,
        /// The tools that are held back, because nobody has approved them as they are; at most 100 names.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        held_back: Vec<String>,
    }
}

payload! {
    /// `service.tools_approved`: tools of a service are offered as they are defined now.
    ServiceToolsApprovedPayload {
        /// The service that has the tools.
        service_id: ServiceId,
        /// The approved tools; at most 100 names.
        tools: Vec<String>,
        /// The number of all tools that were approved.
        count: u64,
        /// Who approved them; absent if they were approved because they were new.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        approved_by: Option<String>,
    }
}

payload! {
    /// `service.removed`: a service is no longer declared.
    ServiceRemovedPayload {
        /// The id that it had.
        service_id: ServiceId,
        /// The name that its tools began with.
        namespace: String,
    }
}

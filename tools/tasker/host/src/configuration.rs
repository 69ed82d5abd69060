//! tasker's configuration: what its types have by default, but for places and doors.

use anyhow::{Context, Result};
use serde_json::Value;
use tasker_shared::config::tasker::{
    BackoffConfig, CircuitBreakerConfig, CommonConfig, DatabaseConfig, ExecutionConfig, GrpcConfig,
    OrchestrationClientConfig, OrchestrationConfig, OrchestrationWebConfig, QueuesConfig,
    SharedMpscChannelsConfig, SystemConfig, TaskTemplatesConfig, TaskerConfig, WorkerConfig,
    WorkerWebConfig,
};

/// The text of a configuration file.
///
/// # Errors
/// TOML cannot hold it.
pub fn of(database: &str, address: &str, templates: &str, workers: u32) -> Result<String> {
    let no_grpc = || Some(GrpcConfig { enabled: false, ..GrpcConfig::default() });
    let mut worker = WorkerConfig {
        orchestration_client: Some(OrchestrationClientConfig {
            base_url: format!("http://{address}"),
            ..OrchestrationClientConfig::default()
        }),
        web: Some(WorkerWebConfig { enabled: false, ..WorkerWebConfig::default() }),
        grpc: no_grpc(),
        ..WorkerConfig::default()
    };
    worker.mpsc_channels.handler_dispatch.max_concurrent_handlers = workers;
    let config = TaskerConfig {
        common: common(database, templates),
        orchestration: Some(OrchestrationConfig {
            web: Some(OrchestrationWebConfig {
                bind_address: address.to_owned(),
                ..OrchestrationWebConfig::default()
            }),
            grpc: no_grpc(),
            ..OrchestrationConfig::default()
        }),
        worker: Some(worker),
    };
    // Through JSON, whose nulls TOML lacks.
    let whole = without_nulls(serde_json::to_value(config)?);
    toml::to_string(&whole).context("the configuration is no TOML")
}

/// PGMQ in the same database, and no cache.
fn common(database: &str, templates: &str) -> CommonConfig {
    CommonConfig {
        system: SystemConfig::default(),
        database: DatabaseConfig { url: database.to_owned(), ..DatabaseConfig::default() },
        queues: QueuesConfig::default(),
        circuit_breakers: CircuitBreakerConfig::default(),
        mpsc_channels: SharedMpscChannelsConfig::default(),
        execution: ExecutionConfig::default(),
        backoff: BackoffConfig::default(),
        task_templates: TaskTemplatesConfig { search_paths: vec![format!("{templates}/*.yaml")] },
        cache: None,
        pgmq_database: None,
    }
}

fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(fields) => fields
            .into_iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(name, value)| (name, without_nulls(value)))
            .collect(),
        other => other,
    }
}

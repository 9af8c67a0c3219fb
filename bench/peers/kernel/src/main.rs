//! delta-kernel-rs as a peer of the benchmarks: opens a table, plans scans, writes checkpoints, and prints what each repetition took.
//!
//!     kernel-peer TABLE THREADS REPETITIONS open
//!     kernel-peer TABLE THREADS REPETITIONS list      files as a scan gives them: each with the transform of its rows
//!     kernel-peer TABLE THREADS REPETITIONS bare      files without those, partition values as text only
//!     kernel-peer TABLE THREADS REPETITIONS skip|bareskip COLUMN OPERATOR(lt|eq|gt) VALUE(long, text:… or date:DAYS)
//!     kernel-peer TABLE THREADS REPETITIONS refresh FOLDER   the first repetition is cold, the others have a snapshot to begin with;
//!                                                     before each of them the next commit of FOLDER is moved into the log
//!     kernel-peer TABLE THREADS 1 checkpoint v1|v2      writes one of the newest version, with sidecars for v2; it must not be there
//!
//! One line a repetition: wall microseconds, CPU microseconds, files; then the peak resident size in kilobytes.

use std::sync::Arc;
use std::time::Instant;

use delta_kernel::checkpoint::{CheckpointSpec, V2CheckpointConfig};
use delta_kernel::expressions::{Expression, Predicate, Scalar};
use delta_kernel::scan::ScanBuilder;
use delta_kernel::snapshot::{CheckpointWriteResult, Snapshot, SnapshotRef};
use delta_kernel::Engine;
use delta_kernel_default_engine::executor::tokio::TokioMultiThreadExecutor;
use delta_kernel_default_engine::storage::store_from_url;
use delta_kernel_default_engine::DefaultEngineBuilder;

type Failure = Box<dyn std::error::Error>;

fn usage() -> libc::rusage {
    let mut used: libc::rusage = unsafe { std::mem::zeroed() };
    unsafe { libc::getrusage(libc::RUSAGE_SELF, &mut used) };
    used
}

fn cpu_us() -> i64 {
    let used = usage();
    (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1_000_000 + used.ru_utime.tv_usec + used.ru_stime.tv_usec
}

fn predicate(arguments: &[String]) -> Predicate {
    let column = Expression::column(arguments[0].split('.').map(str::to_owned).collect::<Vec<_>>());
    let value: Expression = match arguments[2].split_once(':') {
        Some(("date", days)) => Scalar::Date(days.parse::<i32>().expect("a number of days")).into(),
        Some((_, text)) => Scalar::from(text).into(),
        None => Scalar::from(arguments[2].parse::<i64>().expect("a long")).into(),
    };
    match arguments[1].as_str() {
        "lt" => Predicate::lt(column, value),
        "gt" => Predicate::gt(column, value),
        "eq" => Predicate::eq(column, value),
        other => panic!("no operator {other}"),
    }
}

fn count_files(snapshot: SnapshotRef, engine: &dyn Engine, skip: &[String], bare: bool) -> Result<usize, Failure> {
    let mut builder: ScanBuilder = snapshot.scan_builder();
    if bare {
        builder = builder.without_row_transforms();
    }
    if !skip.is_empty() {
        builder = builder.with_predicate(Some(Arc::new(predicate(skip))));
    }
    let mut files = 0;
    for batch in builder.build()?.scan_metadata(engine)? {
        let (data, selected) = batch?.scan_files.into_parts();
        let named = selected.iter().filter(|kept| **kept).count();
        files += named + data.len().saturating_sub(selected.len());
    }
    Ok(files)
}

fn write_checkpoint(snapshot: &SnapshotRef, engine: &dyn Engine, kind: &str) -> Result<usize, Failure> {
    let spec = match kind {
        "v1" => CheckpointSpec::V1,
        "v2" => CheckpointSpec::V2(V2CheckpointConfig::WithSidecar { file_actions_per_sidecar_hint: None }),
        other => panic!("no kind of checkpoint {other}"),
    };
    match snapshot.checkpoint(engine, Some(&spec))?.0 {
        CheckpointWriteResult::Written => Ok(1),
        CheckpointWriteResult::AlreadyExists => Err("the checkpoint was there already".into()),
    }
}

/// Moves the first of the prepared commits into the log.
fn publish(table: &str, prepared: &str) -> Result<(), Failure> {
    let mut commits: Vec<_> = std::fs::read_dir(prepared)?.collect::<Result<Vec<_>, _>>()?;
    commits.sort_by_key(|entry| entry.file_name());
    let next = commits.first().ok_or("no commit is left")?;
    Ok(std::fs::rename(next.path(), std::path::Path::new(table).join("_delta_log").join(next.file_name()))?)
}

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let threads: usize = arguments[1].parse()?;
    let repetitions: usize = arguments[2].parse()?;
    let mode = arguments[3].as_str();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build()?;
    let url = delta_kernel::try_parse_uri(&arguments[0])?;
    let mut resident: Option<SnapshotRef> = None;
    for number in 0..repetitions {
        if mode == "refresh" && number > 0 {
            publish(&arguments[0], &arguments[4])?;
        }
        let (wall, cpu) = (Instant::now(), cpu_us());
        let executor = Arc::new(TokioMultiThreadExecutor::new(runtime.handle().clone()));
        let engine = DefaultEngineBuilder::new(store_from_url(&url)?).with_task_executor(executor).build();
        let snapshot = match (mode, resident.take()) {
            ("refresh", Some(old)) => Snapshot::builder_from(old).build(&engine)?,
            _ => Snapshot::builder_for(url.clone()).build(&engine)?,
        };
        let files = match mode {
            "open" => 0,
            "checkpoint" => write_checkpoint(&snapshot, &engine, &arguments[4])?,
            "skip" | "bareskip" => count_files(snapshot.clone(), &engine, &arguments[4..], mode == "bareskip")?,
            _ => count_files(snapshot.clone(), &engine, &[], mode != "list")?,
        };
        println!("{} {} {files}", wall.elapsed().as_micros(), cpu_us() - cpu);
        resident = Some(snapshot);
    }
    println!("{}", usage().ru_maxrss);
    Ok(())
}

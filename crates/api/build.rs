//! Compiles the contract under `proto/` without protoc: messages, clients, servers and the descriptors.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

use prost::Message;

/// Where the contract lies, seen from this crate.
const ROOT: &str = "../../proto";
const FILES: [&str; 3] =
    ["braid/v1/timeseries.proto", "braid/admin/v1/namespace.proto", "braid/admin/v1/ops.proto"];

fn main() -> Result<(), Box<dyn Error>> {
    let out = PathBuf::from(env::var("OUT_DIR")?);
    for file in FILES {
        println!("cargo::rerun-if-changed={}", Path::new(ROOT).join(file).display());
    }
    let descriptors = protox::Compiler::new([ROOT])?
        .include_imports(true)
        .include_source_info(true)
        .open_files(FILES)?
        .file_descriptor_set();

    // The comments become rustdoc and are of no use to a running server.
    let mut bare = descriptors.clone();
    for file in &mut bare.file {
        file.source_code_info = None;
    }
    fs::write(out.join("descriptors.bin"), bare.encode_to_vec())?;

    tonic_prost_build::configure()
        .bytes(".")
        .btree_map(".")
        .build_transport(false)
        .compile_fds(descriptors)?;
    Ok(())
}

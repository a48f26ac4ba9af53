//! Compiles the services of the contract under `proto/` without protoc. The messages are `crates/api`'s.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Where the contract lies, seen from this crate.
const ROOT: &str = "../../proto";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={ROOT}");
    let descriptors = protox::Compiler::new([ROOT])?
        .include_imports(true)
        .include_source_info(true)
        .open_files(contract(Path::new(ROOT))?)?
        .file_descriptor_set();
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let stubs = |side: &str| -> Result<tonic_prost_build::Builder, Box<dyn Error>> {
        let directory = out.join(side);
        fs::create_dir_all(&directory)?;
        Ok(tonic_prost_build::configure()
            .out_dir(directory)
            .extern_path(".braid.v1", "::api::v1")
            .extern_path(".braid.admin.v1", "::api::admin::v1")
            .codec_path("crate::codec::LimitedCodec")
            .build_transport(false))
    };
    stubs("client")?.build_server(false).compile_fds(descriptors.clone())?;
    // A server sends pages that are encoded already.
    stubs("server")?
        .build_client(false)
        .extern_path(".braid.v1.ReadEventRecordsResponse", "::api::convert::EncodedPage")
        .compile_fds(descriptors)?;
    Ok(())
}

/// Every file of the contract, in the order of the names.
fn contract(directory: &Path) -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(contract(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "proto") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

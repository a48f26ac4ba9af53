//! Compiles the contract under `proto/` without protoc: the messages, and the descriptors.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

use prost::Message;

/// Where the contract lies, seen from this crate.
const ROOT: &str = "../../proto";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={ROOT}");
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let descriptors = protox::Compiler::new([ROOT])?
        .include_imports(true)
        .include_source_info(true)
        .open_files(contract(Path::new(ROOT))?)?
        .file_descriptor_set();

    // The comments become rustdoc and are of no use to a running server.
    let mut bare = descriptors.clone();
    for file in &mut bare.file {
        file.source_code_info = None;
    }
    let file = out.join("descriptors.bin");
    fs::write(&file, bare.encode_to_vec())?;
    println!("cargo::metadata=descriptors={}", file.display());

    prost_build::Config::new()
        .bytes(["."])
        .btree_map(["."])
        // So that limits can be kept per message.
        .enable_type_names()
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

//! Makes the services of the contract, as the build of `crates/api` compiled it. The messages are made there.

use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

use prost::Message;
use prost_types::FileDescriptorSet;

fn main() -> Result<(), Box<dyn Error>> {
    let contract = env::var("DEP_BRAID_CONTRACT_DESCRIPTORS")?;
    println!("cargo::rerun-if-changed={contract}");
    let descriptors = FileDescriptorSet::decode(fs::read(contract)?.as_slice())?;
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
        .extern_path(".braid.v1.ReadEventRecordsResponse", "::api::convert::PageToSend")
        .compile_fds(descriptors)?;
    Ok(())
}

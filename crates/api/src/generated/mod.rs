//! What the build makes of the contract under `proto/`. Nothing is written by hand here; the comments on the messages
//! are the contract's own.

#[expect(missing_docs, reason = "generated code follows its generator, not the house")]
pub mod v1 {
    include!(concat!(env!("OUT_DIR"), "/braid.v1.rs"));
}

/// The operators' API.
pub mod admin {
    #[expect(missing_docs, reason = "generated code follows its generator, not the house")]
    pub mod v1 {
        include!(concat!(env!("OUT_DIR"), "/braid.admin.v1.rs"));
    }
}

/// The contract as a `google.protobuf.FileDescriptorSet` with everything it imports, for reflection and JSON.
pub const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));

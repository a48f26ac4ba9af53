//! Services and clients that the build makes of the contract under `proto/`. Nothing is written by hand here.
#![expect(
    unused_qualifications,
    unreachable_pub,
    clippy::allow_attributes,
    clippy::allow_attributes_without_reason,
    clippy::too_many_lines,
    reason = "generated code follows its generator, not the house"
)]

pub(crate) mod client {
    pub(crate) mod v1 {
        include!(concat!(env!("OUT_DIR"), "/client/braid.v1.rs"));
    }
    pub(crate) mod admin {
        include!(concat!(env!("OUT_DIR"), "/client/braid.admin.v1.rs"));
    }
}

pub(crate) mod server {
    pub(crate) mod v1 {
        include!(concat!(env!("OUT_DIR"), "/server/braid.v1.rs"));
    }
    pub(crate) mod admin {
        include!(concat!(env!("OUT_DIR"), "/server/braid.admin.v1.rs"));
    }
}

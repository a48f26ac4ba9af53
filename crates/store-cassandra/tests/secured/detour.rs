//! Another address of the same node: what comes in here goes there and back, so the node's certificate is for another
//! address than the one that was called.

use env::Env;
use tokio::net::{TcpListener, TcpStream};

use crate::node::Node;

/// Nobody else is there.
const ADDRESS: &str = "127.0.0.32:9042";
/// Connections that are passed on; more than a session makes.
const CONNECTIONS_MAX: usize = 64;

/// Opens the detour and says where it is.
pub(crate) async fn open(env: &Env) -> String {
    // The same port: the driver takes that of the contact point for every node that it learns of.
    let listener = TcpListener::bind(ADDRESS).await.unwrap();
    let spawn = env.spawn.clone();
    let pass_on = async move {
        for _ in 0..CONNECTIONS_MAX {
            let Ok((mut near, _)) = listener.accept().await else { return };
            let one = async move {
                if let Ok(mut far) = TcpStream::connect(Node::address()).await {
                    // One of them hangs up; that is how it ends.
                    let _over = tokio::io::copy_bidirectional(&mut near, &mut far).await;
                }
            };
            spawn.task("detour", Box::pin(one));
        }
    };
    env.spawn.task("detours", Box::pin(pass_on));
    ADDRESS.to_owned()
}

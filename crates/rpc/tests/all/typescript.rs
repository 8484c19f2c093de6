//! The committed TypeScript is the generated one; `cargo xtask test` compiles it.

use std::path::Path;

use roost_rpc::typescript;
use testkit::committed::assert_committed;

#[test]
fn the_committed_protocol_is_the_generated_one() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../clients/ts/src/protocol.ts");
    assert_committed(&path, &typescript::module());
}

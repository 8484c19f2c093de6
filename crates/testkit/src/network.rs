//! A network that has nothing but `lo`, in which the kernel counts what could not be sent.

use std::process::Command;
use std::{env, fs};

/// Runs an ignored test of this binary in a network of its own, with these variables.
///
/// # Panics
///
/// If it fails, or if there is no right to make such a network.
pub fn run_alone(test: &str, variables: &[(&str, &str)]) {
    let mut inside = Command::new("unshare");
    if !rustix::process::geteuid().is_root() {
        inside.arg("--map-root-user");
    }
    inside.args(["--net", "sh", "-c", "ip link set lo up && exec \"$0\" \"$@\""]).arg(env::current_exe().unwrap());
    inside.args(["--exact", "--ignored", "--nocapture", test]).envs(variables.iter().copied());
    let output = inside.output().expect("unshare of util-linux is installed");
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(
        output.status.success() && said.contains("1 passed"),
        "{said}\nThis test needs a network namespace of its own (unshare, ip): run it as root, or allow user namespaces."
    );
}

/// Packets without a route over IPv4 and over IPv6, and all UDP datagrams, which would be name lookups over `lo`.
///
/// # Panics
///
/// If the kernel does not count.
pub fn attempts() -> [u64; 3] {
    let (four, six) = (read("/proc/self/net/snmp"), read("/proc/self/net/snmp6"));
    let in_table = |protocol: &str, counter: &str| {
        let mut rows = four.lines().filter_map(|line| line.strip_prefix(protocol)).map(str::split_whitespace);
        let (names, mut values) = (rows.next().unwrap(), rows.next().unwrap());
        values.nth(names.into_iter().position(|name| name == counter).unwrap()).unwrap().parse().unwrap()
    };
    let six = six.lines().find_map(|line| line.strip_prefix("Ip6OutNoRoutes")).unwrap();
    [in_table("Ip:", "OutNoRoutes"), six.trim().parse().unwrap(), in_table("Udp:", "OutDatagrams")]
}

fn read(file: &str) -> String {
    fs::read_to_string(file).unwrap_or_else(|error| panic!("{file}: {error}"))
}

//! What proves that somebody is at the host.

use std::os::unix::fs::PermissionsExt;

use roost_server::auth::LocalSecret;

use super::*;

fn secret() -> (TempDir, Arc<AtomicI64>, LocalSecret) {
    let (dir, time) = (TempDir::new().unwrap(), Arc::new(AtomicI64::new(0)));
    let secret = LocalSecret::create(dir.path(), clock(&time)).unwrap();
    (dir, time, secret)
}

fn stored(dir: &TempDir) -> String {
    std::fs::read_to_string(LocalSecret::path(dir.path())).unwrap()
}

#[test]
fn the_secret_is_in_a_file_that_only_its_owner_can_read() {
    let (dir, _, secret) = secret();
    let mode = std::fs::metadata(LocalSecret::path(dir.path())).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(secret.admits(&stored(&dir)), Some(Scope::Operate));
    assert_eq!((secret.admits(""), secret.admits("guess")), (None, None));
}

#[test]
fn each_start_has_a_secret_of_its_own() {
    let (dir, time, _old) = secret();
    let before = stored(&dir);
    let new = LocalSecret::create(dir.path(), clock(&time)).unwrap();
    assert!(new.admits(&before).is_none() && new.admits(&stored(&dir)).is_some());
}

#[test]
fn a_link_opens_one_page_once() {
    let (_dir, _, secret) = secret();
    let link = secret.one_time(Scope::Observe).unwrap();
    assert_eq!(secret.admits(&link), None, "a link is no key before it is redeemed");
    let page = secret.redeem(&link).unwrap().unwrap();
    assert_eq!(secret.admits(&page), Some(Scope::Observe));
    assert_eq!(secret.redeem(&link).unwrap(), None);
    assert_eq!(secret.redeem(&page).unwrap(), None);
}

#[test]
fn links_and_pages_end_by_themselves() {
    let (_dir, time, secret) = secret();
    let pass = |duration: Duration| time.fetch_add(i64::try_from(duration.as_millis()).unwrap(), Ordering::Relaxed);
    let (used, unused) = (secret.one_time(Scope::Operate).unwrap(), secret.one_time(Scope::Operate).unwrap());
    let page = secret.redeem(&used).unwrap().unwrap();
    pass(10 * MINUTE);
    assert_eq!(secret.redeem(&unused).unwrap(), None);
    assert!(secret.admits(&page).is_some());
    pass(50 * MINUTE);
    assert!(secret.admits(&page).is_none());
}

"""Git, files and search in a workspace, as the app uses them."""

import subprocess
from pathlib import Path

from app import check, needs, shown


def git(folder, *args):
    """What somebody does in a terminal."""
    done = subprocess.run(["git", *args], cwd=folder, capture_output=True, text=True)
    check(done.returncode == 0, f"git {' '.join(args)}: {done.stderr}")
    return done.stdout.strip()


async def walk(host):
    """git/log with offset and graph, git/state, branch/delete with delete_remote, search with file_types."""
    app = await host.app()
    folder, remote = Path(host.repo).parent / "tree", Path(host.repo).parent / "tree.git"
    folder.mkdir()
    git(folder.parent, "init", "--bare", "--quiet", "--initial-branch=main", remote.name)
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "config", "user.name", "Ada")
    git(folder, "config", "user.email", "ada@example.org")
    git(folder, "remote", "add", "origin", str(remote))
    added = await app.call("workspace/add", name="Tree", path=str(folder))
    check(added["is_git_repo"] is True, shown(added))
    about = {"workspace_id": added["id"]}
    await app.call("workspace/subscribe", **about)

    (folder / "notes.md").write_text("# Notes\n")
    (folder / "main.rs").write_text("fn main() {}\n")
    await app.event("file_changed", path="notes.md")
    status = await app.call("git/status", **about)
    check({file["path"] for file in status["untracked"]} == {"notes.md", "main.rs"}, shown(status))
    for number, path in enumerate(["notes.md", "main.rs"]):
        staged = await app.call("git/stage", paths=[path], **about)
        check(staged["success"] is True, shown(staged))
        commit = await app.call("git/commit", message=f"commit {number}", **about)
        needs(commit, success=bool, sha=str, message=str, files_committed=int)
        await app.event("git_operation_completed", operation="commit")
    pushed = await app.call("git/push", set_upstream=True, **about)
    check(pushed["success"] is True, shown(pushed))

    log = await app.call("git/log", offset=1, limit=10, graph=True, **about)
    [commit] = needs(log, commits=list, total_count=int, has_more=bool, max_columns=int)["commits"]
    needs(commit, sha=str, subject=str, author=str, author_email=str, date=str, graph_position=dict)
    check(commit["subject"] == "commit 0" and log["total_count"] == 2, shown(log))
    state = await app.call("git/state", **about)
    needs(state, is_git_repo=bool, has_commits=bool, state=str, branch=str, remotes=list)
    check(state["state"] == "synced", shown(state))

    created = await app.call("git/checkout", branch="topic", create=True, **about)
    check(created["branch"] == "topic" and created["from_branch"] == "main", shown(created))
    await app.event("git_branch_changed")
    await app.call("git/push", set_upstream=True, **about)
    await app.call("git/checkout", branch="main", **about)
    deleted = await app.call("git/branch/delete", branch="topic", delete_remote=True, **about)
    check(deleted["success"] is True and deleted.get("deleted_remote") is True, shown(deleted))
    check("topic" not in git(remote, "branch"), "the remote branch is still there")

    for method in ("repository/index/status", "repository/files/tree", "repository/stats", "git/branches", "git/remote/list"):
        await app.call(method, **about)
    await app.call("workspace/files/list", directory="", limit=500, **about)
    await app.call("workspace/file/get", path="notes.md", **about)
    await app.call("git/diff", path="notes.md", **about)
    found = await app.call("repository/search", query="", file_types=["rs"], **about)
    names = [file["path"] for file in needs(found, results=list, total=int)["results"]]
    check(names == ["main.rs"], f"the search found {names}")
    (folder / "main.rs").write_text("fn main() { todo() }\n")
    git(folder, "commit", "--all", "--quiet", "--message", "from a terminal")
    await app.event("git_status_changed")
    await app.call("workspace/remove", **about)
    await app.close()

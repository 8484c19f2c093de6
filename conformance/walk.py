"""Walks through a running daemon as the cdev app does, and as a new user would; prints a table, ends with 1 on a failure."""

import argparse
import asyncio
import sys
import time

import new_user
import points
import repository
from app import Host


async def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--roost", required=True, help="the roost binary; its daemon runs")
    parser.add_argument("--repo", required=True, help="the daemon's default workspace")
    parser.add_argument("--full", action="store_true", help="also what takes half a minute")
    args = parser.parse_args()
    host = Host(args.roost, args.repo)
    away = 10 if args.full else 1
    # A name, and the work; or why it is left out.
    table = [
        ("1  pairing, ping, hello", points.pairing),
        ("2  heartbeat within 31 s", points.heartbeat if args.full else "left to --full: it takes 31 s"),
        ("3  workspaces", points.workspaces),
        ("4  history, messages, watch, focus", points.history),
        ("5  start, send, messages, end of turn", points.messages),
        ("6  permission with two devices", points.permission),
        ("7  question", points.question),
        ("8  stop, keys", points.stopping),
        ("9  git and repository", repository.walk),
        ("10 reconnect", points.reconnecting),
        ("new user: the tour", new_user.tour),
        ("new user: a cut during a flood", lambda host: new_user.flood(host, away)),
    ]
    failed = 0
    for name, work in table:
        if isinstance(work, str):
            print(f"{name:40} -     {work}", flush=True)
            continue
        start = time.monotonic()
        try:
            note = await work(host)
            word = "pass"
        except Exception as error:  # whatever goes wrong is this point's, and the others are walked all the same
            note, word = f"{type(error).__name__}: {error}", "FAIL"
            failed += 1
        seconds = f"{time.monotonic() - start:.1f} s"
        print(f"{name:40} {word}  {seconds}{': ' + note if note else ''}", flush=True)
    sys.exit(1 if failed else 0)


asyncio.run(main())

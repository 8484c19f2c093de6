"""Walks through a running daemon as the cdev app does, and as a new user would; prints a table, ends with 1 on a failure."""

import argparse
import asyncio
import sys
import time

import new_user
import points
import repository
from app import Host


# How long the network is away in the middle of a flood, in seconds.
AWAY = 10


async def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--roost", required=True, help="the roost binary; its daemon runs")
    parser.add_argument("--repo", required=True, help="the daemon's default workspace")
    parser.add_argument("--agents", nargs="*", default=[], help="agents of the daemon that use the scripted model")
    args = parser.parse_args()
    host = Host(args.roost, args.repo, args.agents)
    table = [
        ("1  pairing, ping, hello", points.pairing),
        ("3  workspaces", points.workspaces),
        ("4  history, messages, watch, focus", points.history),
        ("5  start, send, messages, end of turn", points.messages),
        ("6  permission with two devices", points.permission),
        ("7  question", points.question),
        ("8  stop, keys", points.stopping),
        ("9  git and repository", repository.walk),
        ("10 reconnect", points.reconnecting),
        ("the app's first hour", points.first_hour),
        ("pictures over HTTP", points.pictures),
        ("new user: the tour", new_user.tour),
        ("new user: a cut during a flood", lambda host: new_user.flood(host, AWAY)),
    ]
    # Whoever waits for the heartbeat waits beside the others.
    beat = asyncio.create_task(walked(host, "2  heartbeat within 31 s", points.heartbeat))
    holds = [await walked(host, name, work) for name, work in table]
    sys.exit(0 if all([*holds, await beat]) else 1)


async def walked(host, name, work):
    """Whether a point holds; its line of the table is printed."""
    start = time.monotonic()
    try:
        word, note = "pass", await work(host)
    except Exception as error:  # whatever goes wrong is this point's, and the others are walked all the same
        word, note = "FAIL", f"{type(error).__name__}: {error}"
    print(f"{name:40} {word}  {time.monotonic() - start:.1f} s{': ' + note if note else ''}", flush=True)
    return word == "pass"


asyncio.run(main())

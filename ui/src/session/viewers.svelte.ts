// Who looks at a session.

import { live } from "../live/connection.svelte";
import { isOwnClient } from "../live/own-clients";

export class Viewers {
  count = $state(1);
  /** Their connections; of many, some. */
  #ids = $state.raw<readonly string[]>([]);

  /** `nameOf` knows the device of a connection that prompted or answered in the session. */
  constructor(readonly nameOf: (client: string) => string | undefined) {}

  set(ids: readonly string[], count = ids.length): void {
    [this.count, this.#ids] = [Math.max(1, count), ids];
  }

  /** Follows who comes and goes; returns what ends that. */
  follow(isOwn: (session: string) => boolean): () => void {
    const undo = [
      live.client.on("session_joined", (joined) => isOwn(joined.session_id) && this.set(joined.other_viewers, joined.viewer_count)),
      live.client.on("session_left", (left) => isOwn(left.session_id) && this.set(left.remaining_viewers, left.viewer_count)),
    ];
    return () => undo.forEach((one) => one());
  }

  /** The names of those that are not this page. */
  get others(): string[] {
    const others = this.#ids.filter((id) => id !== live.hello?.clientId);
    return others.map((id) => (isOwnClient(id) ? "you, in another tab" : (this.nameOf(id) ?? "a device that has not spoken here yet")));
  }
}

// What a bad network is made of.

import { once } from "node:events";
import { createConnection, createServer } from "node:net";

/** A cable between the browser and the daemon that can be pulled. */
export class Cable {
  #server;
  #pairs = new Set();
  isCut = false;
  /** Everything is swallowed and nothing is closed. */
  isSilent = false;

  static async to(daemon) {
    const cable = new Cable();
    const port = Number(new URL(daemon.http).port);
    cable.#server = createServer((near) => {
      if (cable.isCut) return void near.destroy();
      const far = createConnection({ host: "127.0.0.1", port });
      const ends = { near, far };
      cable.#pairs.add(ends);
      for (const [one, other] of [[near, far], [far, near]]) {
        one.on("data", (piece) => cable.isSilent || other.write(piece));
        one.on("error", () => other.destroy());
        one.on("close", () => (other.destroy(), cable.#pairs.delete(ends)));
      }
    });
    cable.#server.listen(0, "127.0.0.1");
    await once(cable.#server, "listening");
    cable.http = `http://127.0.0.1:${cable.#server.address().port}`;
    return cable;
  }

  cut() {
    this.isCut = true;
    for (const { near, far } of this.#pairs) near.destroy(), far.destroy();
  }

  mend() {
    this.isCut = this.isSilent = false;
  }

  close() {
    this.cut();
    this.#server.close();
  }
}

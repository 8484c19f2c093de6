// Where a WebSocket comes from: browsers and Node.js 22 have one.

/** What the client uses of a WebSocket. The type of the DOM is not known to a project for Node.js alone. */
export interface Socket {
  readonly readyState: number;
  onopen: ((event: any) => void) | null;
  onmessage: ((event: any) => void) | null;
  onerror: ((event: any) => void) | null;
  onclose: ((event: any) => void) | null;
  send(data: string): void;
  close(code?: number): void;
}

export type WebSocketConstructor = new (url: string, protocols: string[]) => Socket;

let fallback = async (): Promise<WebSocketConstructor> => {
  throw new Error("there is no WebSocket here: pass one to the client as `WebSocket`");
};

/** Says where to look if there is no global WebSocket. */
export function setFallback(find: () => Promise<WebSocketConstructor>): void {
  fallback = find;
}

export async function findWebSocket(): Promise<WebSocketConstructor> {
  return globalThis.WebSocket ?? fallback();
}

// The package `ws` is optional, so its types may be missing; its WebSocket is the browser's for all that is used here.
declare module "ws" {
  export const WebSocket: typeof globalThis.WebSocket;
}

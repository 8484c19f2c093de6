import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";

/** The daemon that `cargo xtask ui` develops against. */
const daemon = "http://127.0.0.1:8766";

export default defineConfig({
  plugins: [svelte()],
  resolve: { alias: { "roost-client": new URL("../clients/ts/src/client.ts", import.meta.url).pathname } },
  build: {
    target: "es2022",
    // A data: address would need a hole in the content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  },
  server: {
    host: "127.0.0.1",
    port: 5173,
    fs: { allow: [".."] },
    proxy: {
      "/api": { target: process.env.ROOST_DAEMON ?? daemon },
      "/health": { target: process.env.ROOST_DAEMON ?? daemon },
      "/metrics": { target: process.env.ROOST_DAEMON ?? daemon },
      "/ws": { target: process.env.ROOST_DAEMON ?? daemon, ws: true },
    },
  },
});

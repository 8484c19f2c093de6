import { mount } from "svelte";
import "./app.css";
import App from "./App.svelte";
import { live } from "./live/connection.svelte";
import "./live/sessions.svelte";
import { theme } from "./live/theme.svelte";

theme.apply();
live.start();

const target = document.getElementById("app");
if (target) mount(App, { target });

// Needs a connection that the browser trusts; without one the page works all the same.
if (import.meta.env.PROD && "serviceWorker" in navigator) void navigator.serviceWorker.register("/sw.js").catch(() => {});

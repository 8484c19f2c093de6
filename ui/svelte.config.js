import { vitePreprocess } from "@sveltejs/vite-plugin-svelte";

export default {
  preprocess: vitePreprocess(),
  compilerOptions: {
    // By the style alone: the same sources become the same files, wherever they are built.
    cssHash: ({ hash, css }) => `s-${hash(css)}`,
  },
};

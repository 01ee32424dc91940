import { svelte } from '@sveltejs/vite-plugin-svelte';
import { defineConfig } from 'vite';

// The build goes into the Python package, which ships it: nothing is fetched from elsewhere.
export default defineConfig({
  plugins: [svelte()],
  base: '/',
  build: {
    outDir: '../src/equipoise/apps/web/page',
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
    reportCompressedSize: false,
  },
  server: { proxy: { '/api': { target: 'http://127.0.0.1:8765', ws: true } } },
});

// How the page is built. No source map and no preload script, so that the strict content policy of the server holds.
import { join } from 'node:path'
import { defineConfig } from 'vite'

export default defineConfig({
  root: join(import.meta.dirname, 'src/page'),
  build: {
    outDir: join(import.meta.dirname, 'dist/page'),
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: false,
    assetsInlineLimit: 0,
  },
})

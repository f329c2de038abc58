// The adapters over 200 turns, and the figures on their pages: npm run test:adapters.
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: { include: ['examples/src/**/*.adapters.ts'], testTimeout: 600_000, maxWorkers: 2 },
})

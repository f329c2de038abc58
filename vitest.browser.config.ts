// The tests that look at sessions in a browser: npm run test:browser.
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['viewer/src/**/*.browser.ts', 'scripts/site/*.browser.ts'],
    testTimeout: 240_000,
    hookTimeout: 120_000,
    maxWorkers: 1,
  },
})

import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['*/src/**/*.test.ts', 'plugins/*/src/**/*.test.ts', 'scripts/**/*.test.ts'],
    exclude: ['**/node_modules/**', '**/dist/**'],
    setupFiles: ['scripts/property-seed.ts'],
    // Tests that need longer say so.
    testTimeout: 20_000,
    hookTimeout: 60_000,
    // No module keeps state, so test files can share a worker's modules: that halves the processor time of the suite.
    isolate: false,
    maxWorkers: 2,
  },
})

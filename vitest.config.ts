import { defineConfig } from 'vitest/config'

/** Measures processor time, which the garbage of other test files would distort. */
const measuring = ['engine/src/linear-time.property.test.ts']

export default defineConfig({
  test: {
    setupFiles: ['scripts/property-seed.ts'],
    // Tests that need longer say so.
    testTimeout: 20_000,
    hookTimeout: 60_000,
    maxWorkers: 2,
    projects: [
      {
        extends: true,
        test: {
          name: 'tests',
          include: ['*/src/**/*.test.ts', 'plugins/*/src/**/*.test.ts', 'scripts/**/*.test.ts'],
          exclude: ['**/node_modules/**', '**/dist/**', ...measuring],
          // No module keeps state, so test files can share a worker's modules: that halves the processor time of the suite.
          isolate: false,
        },
      },
      { extends: true, test: { name: 'measuring', include: measuring } },
    ],
  },
})

import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['*/src/**/*.test.ts', 'plugins/*/src/**/*.test.ts', 'scripts/**/*.test.ts'],
    exclude: ['**/node_modules/**', '**/dist/**'],
    setupFiles: ['scripts/property-seed.ts'],
    testTimeout: 240_000,
    maxWorkers: 2,
  },
})

// The tests with real agents: npm run test:agents.
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: [
      'plugins/*/src/**/*.agents.ts',
      'plugins/testing/*.agents.ts',
      'examples/src/**/*.agents.ts',
      'gateway/src/**/*.agents.ts',
    ],
    testTimeout: 240_000,
    maxWorkers: 1,
  },
})

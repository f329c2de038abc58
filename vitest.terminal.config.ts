// The tests that drive the agent in a pseudo-terminal: npm run test:terminal.
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: { include: ['{agent,cli}/src/**/*.terminal.ts'], testTimeout: 240_000, maxWorkers: 2 },
})

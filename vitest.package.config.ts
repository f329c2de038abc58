// The packages, installed from the registry on every Node that we promise: npm run test:package.
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: { include: ['scripts/package/*.install.ts'], testTimeout: 240_000, hookTimeout: 480_000, maxWorkers: 1 },
})

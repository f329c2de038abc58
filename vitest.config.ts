import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Measures processor time, which the garbage of other test files would distort. */
const measuring = ['engine/src/linear-time.property.test.ts']

/** Take long, but are so short that Vitest, which starts with the largest files, would start them last in a fresh clone. */
const slow = [
  'examples/src/adapters/contract.test.ts',
  'examples/src/adapters/lives.test.ts',
  'scripts/package.test.ts',
  'agent/src/scenarios/agent.test.ts',
  'agent/src/scenarios/crash.test.ts',
  'agent/src/scenarios/soak.test.ts',
  'bench/src/cost/promise.test.ts',
  'examples/src/examples.test.ts',
  'scripts/code-blocks.test.ts',
]

/** The longest first, so that no worker ends alone with one of them. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const places = [...measuring, ...slow]
    const placeOf = ({ moduleId }: TestSpecification) => {
      const place = places.findIndex((path) => moduleId.endsWith(`/${path}`))
      return place < 0 ? places.length : place
    }
    return (await super.sort(files)).toSorted((one, other) => placeOf(one) - placeOf(other))
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: LongestFirst },
    setupFiles: ['scripts/property-seed.ts'],
    // Tests that need longer say so.
    testTimeout: 20_000,
    hookTimeout: 60_000,
    // Vitest gives up after a second, which is too short on a busy machine.
    expect: { poll: { timeout: 15_000 } },
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

import { expect, test } from 'vitest'
import { createGuard } from '../ports/safely.ts'
import { type CleanUp, createCleanUps } from './runtime.ts'

test('a compaction cleans up what belongs to its conversation and, unless a sub-agent made it, what belongs to all', () => {
  const done: string[] = []
  const problems: unknown[] = []
  const guard = createGuard({ emit: (event) => problems.push(event), wait: async () => undefined })
  const shared = new Set<CleanUp>()
  const [main, sub] = [false, true].map((isSubagent) => createCleanUps(shared, { isSubagent, guard }))
  const owner = (name: string, scope: CleanUp['scope']): CleanUp => ({
    name,
    scope,
    clear: ({ tokens }) => {
      done.push(`${name} ${tokens}`)
      if (name === 'main') throw new Error('boom')
    },
  })
  main?.register(owner('main', 'conversation'))
  sub?.register(owner('sub', 'conversation'))
  const remove = sub?.register(owner('all', 'all'))
  main?.run({ tokens: 1 })
  sub?.run({ tokens: 2 })
  remove?.()
  main?.run({ tokens: 3 })
  expect(done).toEqual(['main 1', 'all 1', 'sub 2', 'main 3'])
  expect(problems).toHaveLength(2)
})

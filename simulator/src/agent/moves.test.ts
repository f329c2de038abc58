import { expect, test } from 'vitest'
import { syntheticRepository } from '../repository/repository.ts'
import { seededRandom } from '../script/random.ts'
import { callsOf } from './moves.ts'

test('two drafts of one step are two files, the second one shorter', () => {
  const scene = {
    repository: syntheticRepository({ seed: 1 }),
    random: seededRandom(1),
    place: undefined,
    task: 1,
    step: 5,
  }
  const drafts = callsOf('draft', scene).map(({ tool, named }) => ({ tool, ...named }) as Record<string, unknown>)
  expect(drafts.map(({ tool }) => tool)).toEqual(['Write', 'Write'])
  const [first, second] = drafts.map(({ path, content }) => ({ path, length: String(content).split('\n').length }))
  expect(first?.path).not.toBe(second?.path)
  expect(first?.length).toBeGreaterThan(second?.length ?? 0)
})

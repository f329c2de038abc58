import { expect, test } from 'vitest'
import { setBench } from '../testing/tool-bench.ts'

test('tools that only look may run beside each other, and what reads the workspace can be cleared and read again', async () => {
  const { tools, close } = await setBench()
  await close()
  const named = (flag: 'isParallel' | 'isReproducible') =>
    tools.tools.flatMap((tool) => (tool[flag] ? [tool.name] : [])).toSorted()
  expect(named('isParallel')).toEqual(['Glob', 'Grep', 'Read', 'Task', 'TaskOutput', 'WebFetch', 'recall'])
  expect(named('isReproducible')).toEqual(['Glob', 'Grep', 'Read'])
})

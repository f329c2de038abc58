import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

describe('npm run bench', () => {
  test.each([[['nonsense']], [['constructor']], [['']]])(
    'with a name it does not know it lists the names: %j',
    (words) => {
      const { status, stderr } = spawnSync(process.execPath, [join(import.meta.dirname, 'main.ts'), ...words], {
        encoding: 'utf8',
      })
      expect(status).toBe(2)
      expect(stderr).toMatch(/NAME is one of: .*\btranscript\b.*\btokens\b/)
    },
  )
})

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'

const bench = (...words: readonly string[]) =>
  spawnSync(process.execPath, [join(import.meta.dirname, 'main.ts'), ...words], { encoding: 'utf8' })

describe('npm run bench', () => {
  // In a process of its own: Vitest takes much longer to load all peers.
  test('every checked-in page shows its stored figures', () => {
    expect(bench('pages', '--dry')).toMatchObject({ status: 0, stderr: '' })
  })

  test.each([[['nonsense']], [['constructor']], [['']]])(
    'with a name it does not know it lists the names: %j',
    (words) => {
      const { status, stderr } = bench(...words)
      expect(status).toBe(2)
      expect(stderr).toMatch(/NAME is one of: .*\btranscript\b.*\btokens\b/)
    },
  )
})

import { execFileSync } from 'node:child_process'
import { truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { setFolder } from '../testing/folder.ts'
import { disk } from './disk.ts'

const temporary = setFolder()

test('bytes are found in a file; one that cannot be read may have them, and one that is missing has none', () => {
  const folder = temporary()
  const at = (name: string) => join(folder, name)
  writeFileSync(at('with'), Buffer.from([1, 0, 0, 0xe0, 0, 0xff]))
  writeFileSync(at('without'), Buffer.from([1, 0, 0, 0xe1, 0]))
  writeFileSync(at('long'), '')
  truncateSync(at('long'), 64 * 1024 * 1024 + 1)
  execFileSync('mkfifo', [at('pipe')])
  const names = ['with', 'without', 'missing', 'pipe', 'long', '.']
  const found = names.filter((name) => disk.contains(at(name), Buffer.from([0, 0, 0xe0, 0])))
  expect(found).toEqual(['with', 'pipe', 'long', '.'])
})

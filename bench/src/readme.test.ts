import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { withFigures } from './readme.ts'
import { root } from './root.ts'

test('the figures in the README are those of the checked-in results (npm run bench -- readme puts them there)', () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8')
  expect(readme).toBe(withFigures(readme))
})

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { pages, withFigures } from './docs.ts'
import { root } from './root.ts'

test.each(Object.keys(pages))(
  'the figures in %s are those of the checked-in results (npm run bench -- docs)',
  (path) => {
    expect(readFileSync(join(root, path), 'utf8')).toBe(withFigures(path))
  },
)

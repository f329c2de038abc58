import { expect, test } from 'vitest'
import { anchorsIn, linksIn, packagedPage } from './pages.ts'

const page = `
See [the engine](../docs/engine.md#guards), [the rest](#rest), [npm](https://www.npmjs.com) and [a bench](../bench/x.md).

![a picture](../docs/pictures/a.svg) ![another](../bench/b.svg)
`

test('a page that moves to the root of a package keeps its links to what the package has; others become text', () => {
  const has = (path: string) => path.startsWith('docs/')
  expect(packagedPage(page, { from: 'engine/README.md', to: 'README.md' }, has)).toBe(`
See [the engine](docs/engine.md#guards), [the rest](#rest), [npm](https://www.npmjs.com) and a bench.

![a picture](docs/pictures/a.svg) another
`)
})

test('links are found with the file and the place that they name', () => {
  expect(linksIn(page, 'engine/README.md')).toEqual([
    { target: '../docs/engine.md#guards', path: 'docs/engine.md', anchor: 'guards' },
    { target: '#rest', path: 'engine/README.md', anchor: 'rest' },
    { target: '../bench/x.md', path: 'bench/x.md', anchor: undefined },
    { target: '../docs/pictures/a.svg', path: 'docs/pictures/a.svg', anchor: undefined },
    { target: '../bench/b.svg', path: 'bench/b.svg', anchor: undefined },
  ])
})

test('headings are places, and lines of code that look like headings are not', () => {
  expect(anchorsIn('# One & two\n\n```sh\n# no heading\n```\n\n## `code` here: 3\n')).toEqual(
    new Set(['one--two', 'code-here-3']),
  )
})

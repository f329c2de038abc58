// docs/api is written from the source. When a public type or its comment has changed: npm test -- scripts/api-reference -u
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { apiReference } from './api-reference.ts'
import { root } from './steps.ts'

const folder = join(root, 'docs', 'api')
const pages = apiReference()

test.each(pages)('docs/api/$file is up to date', async ({ file, text }) => {
  await expect(text).toMatchFileSnapshot(join(folder, file))
})

test('docs/api has no other pages', () => {
  expect(readdirSync(folder).toSorted()).toEqual(pages.map(({ file }) => file).toSorted())
})

/** Declarations without comments and strings. */
function codeIn(text: string): string {
  const blocks = [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code = '']) => code)
  return blocks.join('\n').replaceAll(/\/\*[\s\S]*?\*\/|\/\/.*$|'[^'\n]*'|`[^`]*`/gm, '')
}

function definedIn(text: string): readonly string[] {
  return [...text.matchAll(/^### (\w+)$/gm)].map(([, name = '']) => name)
}

describe.each(pages)('$file', ({ text, foreign }) => {
  const defined = definedIn(text)

  test('defines each name once', () => {
    expect(defined.filter((name, at) => defined.indexOf(name) !== at)).toEqual([])
  })

  test('mentions no type that is not defined there, linked, or foreign', () => {
    const linked = [...text.matchAll(/\[(\w+)\]\([\w-]+\.md#\w+\)/g)].map(([, name = '']) => name)
    const code = codeIn(text)
    const parameters = [...code.matchAll(/(?:<|, |\[)(\w+)(?: extends [^,>]+)?(?=[,>]| in )/g)].map(
      ([, name = '']) => name,
    )
    const known = new Set([...defined, ...linked, ...foreign, ...parameters, 'Symbol'])
    const mentioned = [...code.matchAll(/(?<![.\w])[A-Z]\w+(?!\w*\??:)/g)].map(([name]) => name)
    expect(mentioned.filter((name) => !known.has(name))).toEqual([])
  })

  test('links to names that are defined', () => {
    const links = [...text.matchAll(/\]\(([\w-]+\.md)#(\w+)\)/g)]
    const anchors = new Map(pages.map((page) => [page.file, definedIn(page.text).map((name) => name.toLowerCase())]))
    expect(
      links.filter(([, file = '', anchor = '']) => !anchors.get(file)?.includes(anchor)).map(([link]) => link),
    ).toEqual([])
  })
})

test('the session, every event and every setting are in the reference', () => {
  const main = pages.find(({ file }) => file === 'everlong.md')?.text ?? ''
  for (const part of [
    'readonly prepare:',
    'readonly undo:',
    "'compaction-finished'",
    "'breaker-tripped'",
    'autoCompactAt?',
  ]) {
    expect(main).toContain(part)
  }
})

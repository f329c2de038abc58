// Which part of a large file is restored, and what is restored of a file that has changed.
import { describe, expect, test } from 'vitest'
import { call, type Said, shell } from '../../testing/talk.ts'
import { restoreContext } from './restore.ts'
import { createSeenFiles, seenFileStore } from './seen-files.ts'
import { emptyState } from './state-book.ts'
import { touchedFiles } from './touched.ts'

async function restored(said: readonly (readonly Said[])[], next = '') {
  const seen = createSeenFiles()
  for (const { message, record } of said.flat()) seen.add(message, record)
  const { pieces, notRestored } = await restoreContext(
    {
      files: seenFileStore(seen),
      countTokens: (text) => Math.ceil(text.length / 4),
      touched: touchedFiles(said.flat().map(({ message }) => message)),
      kept: [],
      state: emptyState,
      next,
    },
    { budget: 20_000 },
  )
  return { pieces, not: notRestored.map(({ what, why }) => `${what}: ${why}`) }
}

const rule = (at: number) =>
  `.rule-${at} {
  background: url(/images/tile-${at}.png) no-repeat center;
  margin: ${at}px;
}
`
const css = Array.from({ length: 400 }, (_, at) => rule(at)).join('\n')
const read = (path: string, text: string) =>
  call({
    name: 'Read',
    input: { file_path: path },
    text: text
      .split('\n')
      .map((line, at) => `${at + 1}→${line}`)
      .join('\n'),
  })
const edit = (path: string, before: string, after: string) =>
  call({ name: 'Edit', input: { file_path: path, old_string: before, new_string: after }, text: 'Updated.' })

describe('of a stylesheet of 2,000 lines', () => {
  test('the rule that was changed in line 1,500 comes back, not what is far from it', async () => {
    const { pieces } = await restored([read('/a.css', css), edit('/a.css', 'margin: 300px', 'margin: 7px')])
    const text = pieces[0]?.text ?? ''
    expect(css.split('\n').indexOf('.rule-300 {') + 1).toBe(1_501)
    expect(text).toContain('.rule-300 {\n  background: url(/images/tile-300.png) no-repeat center;\n  margin: 7px;\n}')
    expect(text).not.toContain('margin: 300px')
    for (const far of [0, 100, 200, 350, 399]) expect(text).not.toContain(`.rule-${far} {`)
    expect(pieces[0]?.tokens).toBeLessThanOrEqual(5_000)
  })

  test('the rule that the next step names comes back too, and a name that is everywhere brings nothing', async () => {
    const said = [read('/a.css', css), edit('/a.css', 'margin: 300px', 'margin: 7px')]
    const { pieces } = await restored(said, 'Then change `.rule-200` and every `background`.')
    expect(pieces[0]?.text).toContain(rule(200).trim())
    expect(pieces[0]?.text).toContain('margin: 7px')
    expect(pieces[0]?.text).not.toContain('.rule-250 {')
  })
})

test('of a long list of comments, the one that is still open comes first, not those that were answered', async () => {
  const comment = (at: number, state = 'open') =>
    `## Comment ${2734900000 + at} (${state})\n${`The hinge number ${at} is checked twice. `.repeat(60)}\n`
  const list = Array.from({ length: 100 }, (_, at) => comment(at)).join('\n')
  const answered = Array.from({ length: 30 }, (_, at) =>
    edit('/review.md', `Comment ${2734900000 + at} (open)`, `Comment ${2734900000 + at} (answered)`),
  )
  const { pieces } = await restored([read('/review.md', list), ...answered], 'Answer comment 2734900077.')
  expect(pieces[0]?.text).toContain(comment(77).trim())
  expect(pieces[0]?.text).not.toContain(comment(60).trim())
})

describe('of a file that has changed since it was read', () => {
  const text = 'export const gate = 1\n'

  test('an edit is in what comes back', async () => {
    const { pieces } = await restored([read('/a.ts', text), edit('/a.ts', 'gate = 1', 'gate = 2')])
    expect(pieces.map((piece) => piece.text.trim())).toEqual(['export const gate = 2'])
  })

  test.each([
    ['a formatter', 'npx prettier --write .', '/a.ts: may have changed since it was last shown'],
    ['a command that removes it', 'rm /a.ts', '/a.ts: not there any more'],
  ])('nothing comes back after %s, and a line says why', async (_, command, why) => {
    expect(await restored([read('/a.ts', text), shell(command)])).toEqual({ pieces: [], not: [why] })
  })
})

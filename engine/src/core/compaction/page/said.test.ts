import { describe, expect, test } from 'vitest'
import { createIsSaid, unsaidIn } from './said.ts'

describe('a statement is said already', () => {
  const told = 'The build failed because `countLines` exists in common.go.'

  test.each<[string, string, boolean]>([
    ['in one bullet, in other words', '- common.go has a `countLines` already, so the build failed.', true],
    ['in a bullet under its lead-in', 'The build failed:\n- common.go has `countLines`.', true],
    ['in a bullet and its own bullets', '- common.go:\n  - It has `countLines`.\n  - So the build failed.', true],
    ['nowhere', '- The gate is green.', false],
    ['with another name', '- common.go has a `countLinesStr` already, so the build failed.', false],
    ['in words of two bullets', '- The build failed.\n- It took long.\n- `countLines` is in common.go.', false],
  ])('%s', (_, summary, isSaid) => {
    expect(createIsSaid(summary)(told)).toBe(isSaid)
  })

  test('not with another number', () => {
    const isSaid = createIsSaid('- The test shows agent=9, total=10.')
    expect(isSaid('The test shows agent=9, total=10.')).toBe(true)
    expect(isSaid('The test shows agent=4, total=5.')).toBe(false)
  })
})

test('a line number is no part of a fact', () => {
  const isSaid = createIsSaid('- parseGate has a nil check now, and loops close 2 iterators.')
  expect(isSaid('A nil check was added to parseGate at line 178.')).toBe(true)
  expect(isSaid('The loops at lines 464 and 585 close 2 iterators.')).toBe(true)
  expect(isSaid('The loops (gate.go:464:12) close 2 iterators.')).toBe(true)
  expect(isSaid('The loops close 3 iterators.')).toBe(false)
  expect(isSaid('Loops close 2 iterators in 178 files.')).toBe(false)
})

test('a step is said where a passage has its long names, though not every number of its path', () => {
  const isSaid = createIsSaid('- Replies posted (each "Fixed in 36ff9a9"): 2734843645, 2734843647')
  const reply = (id: number) => `ran \`gh api pulls/112/comments/${id}/replies -f body="Fixed in 36ff9a9"\` → ok`
  expect([isSaid(reply(2734843645), 'step'), isSaid(reply(2734843645))]).toEqual([true, false])
  expect(isSaid(reply(2734843648), 'step')).toBe(false)
  expect(isSaid('ran `gh api replies` → ok', 'step')).toBe(false)
  // Without a long name, a step is compared like a statement.
  expect(isSaid('The replies are late, and the queue of the mail server is full.', 'step')).toBe(false)
})

describe('what is new in a text', () => {
  const lines = ['These parts of the door are worn:', '- The upper hinge lost 2 screws.', '- The lower hinge bends.']

  test('keeps a list whole, with its lead-in, if one item of it is new', () => {
    const isSaid = createIsSaid('- The lower hinge bends.')
    expect(unsaidIn(lines.join('\n'), { isSaid, known: new Set() })).toBe(lines.join('\n'))
  })

  test('has nothing of a table whose rows are said, even if its head is not', () => {
    const rows = '| agent | handler exists? |\n| --- | --- |\n| claude7 | missing |'
    const isSaid = createIsSaid('- claude7: missing.')
    expect(unsaidIn(rows, { isSaid, known: new Set() })).toBe('')
    expect(unsaidIn(`${rows}\n| gemini3 | present |`, { isSaid, known: new Set() })).toContain('gemini3')
  })

  test('has of a table or list that is mostly said only the new rows and items, with what introduces them', () => {
    const rows = [
      '| door | state |',
      '| --- | --- |',
      '| A1 | open |',
      '| B2 | shut |',
      '| C3 | open |',
      '| D4 | oiled |',
    ]
    const isSaid = createIsSaid('| A1 | open |\n| B2 | shut |\n| C3 | open |\n| state of each door |')
    const unsaid = (lines: readonly string[]) => unsaidIn(lines.join('\n'), { isSaid, known: new Set() }).split('\n')
    expect(unsaid(rows)).toEqual([...rows.slice(0, 2), '| D4 | oiled |'])
    const list = [
      'The doors:',
      '- Old ones:',
      '  - A1 is open',
      '  - B2 is shut',
      '- New ones:',
      '  - C3 is open',
      '  - D4 is oiled',
    ]
    expect(unsaid([...list, '  - A1 is open', '  - B2 is shut', '  - C3 is open'])).toEqual([
      ...['The doors:', '- New ones:', '  - D4 is oiled'],
    ])
  })

  test('has no heading whose content is said', () => {
    const isSaid = createIsSaid('- A1 blocks B2')
    expect(unsaidIn('BLOCKS\n  ← A1 blocks B2\n## Parent', { isSaid, known: new Set() })).toBe('')
  })

  test('is without code and without lines that only introduce code, if asked, but with output', () => {
    const code = 'The new handler:\n```ts\nopen()\n```'
    const output = 'The test now shows:\n```\nagent=4, total=5\n```'
    const options = { isSaid: () => false, known: new Set<string>() }
    expect(unsaidIn(`${code}\n${output}`, { ...options, withoutCode: true })).toBe(output)
    expect(unsaidIn(`${code}\n${output}`, { ...options, known: new Set() })).toBe(`${code}\n${output}`)
  })

  test('is empty if everything is said', () => {
    const isSaid = createIsSaid(lines.slice(1).join('\n'))
    expect(unsaidIn(lines.join('\n'), { isSaid, known: new Set() })).toBe('')
  })

  test('leaves out paragraphs that were kept before, but not a short one, which is about something else', () => {
    const known = new Set<string>()
    const long = 'The cellar hinge broke because the screws rusted during winter storage.'
    const once = (text: string) => unsaidIn(text, { isSaid: () => false, known })
    expect([once(`${long}\nDone.`), once(`${long}\nDone.`)]).toEqual([`${long}\nDone.`, 'Done.'])
  })
})

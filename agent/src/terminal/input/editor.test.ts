// Editing, key names, pastes and history.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Key } from 'ink'
import { afterAll, describe, expect, test } from 'vitest'
import { type Editor, edit, editorWith, emptied, emptyEditor, promptOf, withImage } from './editor.ts'
import { createHistory } from './history.ts'
import { type Press, pressesOf } from './keys.ts'

const folder = mkdtempSync(join(tmpdir(), 'everlong-editor-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** The text after these keys, with | where the cursor is. */
function typed(text: string, ...keys: readonly (string | Press)[]): string {
  const after = keys.reduce(
    (editor, key) => edit(editor, typeof key === 'string' ? { key } : key) ?? editor,
    editorWith(text),
  )
  return `${after.text.slice(0, after.cursor)}|${after.text.slice(after.cursor)}`
}

describe('editing', () => {
  test('moves and deletes by character, word and line', () => {
    expect(typed('one two', 'left', 'backspace')).toBe('one t|o')
    expect(typed('one two', 'alt+left', 'alt+left', 'delete')).toBe('|ne two')
    expect(typed('one two', 'home', 'alt+right')).toBe('one| two')
    expect(typed('run src/a.ts', 'ctrl+w')).toBe('run |')
    expect(typed('run src/a.ts', 'alt+backspace')).toBe('run src/a.|')
    expect(typed('ab\ncd', 'ctrl+u')).toBe('ab\n|')
    expect(typed('ab\ncd', 'up', 'ctrl+k')).toBe('ab|\ncd')
    expect(typed('👩‍👩‍👧e\u0301', 'backspace')).toBe('👩‍👩‍👧|')
    expect(typed('👩‍👩‍👧', 'backspace')).toBe('|')
  })

  test('Ctrl+Y inserts what was last deleted by word or line; deletions in a row are one text', () => {
    expect(typed('one two', 'ctrl+u', 'ctrl+y', 'ctrl+y')).toBe('one twoone two|')
    expect(typed('one two three', 'ctrl+w', 'ctrl+w', 'ctrl+y')).toBe('one two three|')
    expect(typed('one two', 'alt+left', 'ctrl+k', 'ctrl+u', 'ctrl+y')).toBe('one two|')
    expect(typed('one two', 'ctrl+w', 'home', 'ctrl+k', 'ctrl+y')).toBe('one |')
    expect(typed('one', 'ctrl+k', 'ctrl+u', 'ctrl+k', 'ctrl+y')).toBe('one|')
    expect(typed('one', 'backspace', 'delete', 'ctrl+y')).toBe('on|')
  })

  test('a paste that was deleted comes back whole, also into another prompt with a paste of the same number', () => {
    const long = (word: string) => `${word}\n`.repeat(9)
    const press = (editor: Editor, key: Press) => edit(editor, key) ?? editor
    const first = press(press(emptyEditor, { key: 'paste', text: long('a') }), { key: 'ctrl+u' })
    expect(promptOf(press(first, { key: 'ctrl+y' })).text).toBe(long('a').trim())
    const next = press(press(emptied(first), { key: 'paste', text: long('b') }), { key: 'ctrl+y' })
    expect(next.text).toBe('[Pasted #1: 9 lines][Pasted #2: 9 lines]')
    expect(promptOf(next).text).toBe(`${long('b')}${long('a')}`.trim())
    expect(press(next, { key: 'paste', text: long('c') }).text).toBe(`${next.text}[Pasted #3: 9 lines]`)
  })

  test('Ctrl+_ undoes word by word what was typed, and each other edit on its own', () => {
    const letters = [...'fix it'].map((text): Press => ({ key: 'text', text }))
    const undo = (times: number) => Array<string>(times).fill('ctrl+_')
    const results = [1, 2, 3].map((times) => typed('', ...letters, ...undo(times)))
    expect(results).toEqual(['fix |', '|', '|'])
    expect(typed('one two', 'ctrl+u', 'ctrl+y', 'ctrl+_')).toBe('|')
    expect(typed('one two', 'ctrl+u', 'ctrl+/')).toBe('one two|')
    expect(typed('one', 'home', { key: 'text', text: 'x' }, 'end', { key: 'text', text: 'y' }, 'ctrl+-')).toBe('xone|')
    expect(typed('a', { key: 'paste', text: 'b\nc' }, 'alt+enter', ...undo(2))).toBe('a|')
    expect(typed('', ...Array<string>(150).fill('ctrl+j'), ...undo(150))).toBe(`${'\n'.repeat(50)}|`)
  })

  test('up and down keep the column as far as the line goes', () => {
    expect(typed('long line\nab\nlonger', 'up')).toBe('long line\nab|\nlonger')
    expect(typed('long line\nab', 'up', 'end', 'down')).toBe('long line\nab|')
  })

  test('alt+enter, shift+enter and ctrl+j start a new line', () => {
    expect(typed('a', 'alt+enter', 'shift+enter', 'ctrl+j')).toBe('a\n\n\n|')
  })

  test('a long paste is folded into a mark, which goes as a whole and is sent in full', () => {
    const lines = Array.from({ length: 320 }, (_, at) => `line ${at}`).join('\n')
    const pasted = edit(editorWith('Look: '), { key: 'paste', text: lines }) ?? emptyEditor
    expect(pasted.text).toBe('Look: [Pasted #1: 320 lines]')
    expect(promptOf(pasted)).toEqual({ text: `Look: ${lines}` })
    expect(edit(pasted, { key: 'backspace' })?.text).toBe('Look: ')
    // Patterns of a replacement are text like any other.
    const odd = `$& $1 $$ $\` $'\n`.repeat(30)
    expect(promptOf(edit(emptyEditor, { key: 'paste', text: odd }) ?? emptyEditor)).toEqual({ text: odd.trim() })
    expect(edit(pasted, { key: 'left' })?.cursor).toBe('Look: '.length)
  })

  test('an image is attached as long as its mark is in the text', () => {
    const image = { mediaType: 'image/png', base64: 'AAAA' }
    const attached = withImage(editorWith('What is '), 'a\u001bb.png', image)
    expect(promptOf(attached)).toEqual({ text: 'What is [Image #1: a�b.png]', images: [image] })
    expect(promptOf(edit(attached, { key: 'backspace' }) ?? attached)).toEqual({ text: 'What is' })
  })

  test('a short paste is shown as it is, without control characters', () => {
    expect(typed('', { key: 'paste', text: 'a\r\n\u001b[31mb\tc' })).toBe('a\nb    c|')
  })
})

const noKey = Object.fromEntries(
  ['upArrow', 'downArrow', 'return', 'escape', 'ctrl', 'shift', 'tab', 'meta', 'backspace'].map((name) => [
    name,
    false,
  ]),
) as unknown as Key

describe('keys', () => {
  test('have one name, with their modifiers', () => {
    expect(pressesOf('', { ...noKey, return: true, meta: true })).toEqual([{ key: 'alt+enter' }])
    expect(pressesOf('a', { ...noKey, ctrl: true })).toEqual([{ key: 'ctrl+a' }])
    expect(pressesOf('A', { ...noKey, shift: true })).toEqual([{ key: 'text', text: 'A' }])
  })

  test('that come in one chunk are taken apart, and several lines at once are a paste', () => {
    expect(pressesOf('hello\r', noKey)).toEqual([{ key: 'text', text: 'hello' }, { key: 'enter' }])
    expect(pressesOf('ab\u0017c', noKey)).toEqual([
      { key: 'text', text: 'ab' },
      { key: 'ctrl+w' },
      { key: 'text', text: 'c' },
    ])
    expect(pressesOf('a\u001f', noKey)).toEqual([{ key: 'text', text: 'a' }, { key: 'ctrl+_' }])
    expect(pressesOf('one\rtwo', noKey)).toEqual([{ key: 'paste', text: 'one\rtwo' }])
  })
})

describe('history', () => {
  test('is there again in the next run, without repetitions and without broken lines', () => {
    const path = join(folder, 'deep', 'history')
    const first = createHistory(path)
    for (const text of ['one', 'one', 'two\nlines', ' ']) first.add(text)
    writeFileSync(path, `${readFileSync(path, 'utf8')}"half`)
    expect(createHistory(path).entries()).toEqual(['one', 'two\nlines'])
  })

  test('tells when it cannot be saved, and continues', () => {
    const blocked = join(folder, 'file')
    writeFileSync(blocked, '')
    const troubles: string[] = []
    const history = createHistory(join(blocked, 'history'), (why) => troubles.push(why))
    history.add('one')
    expect(history.entries()).toEqual(['one'])
    expect(troubles).toHaveLength(1)
  })
})

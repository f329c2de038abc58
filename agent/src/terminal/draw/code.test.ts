import { stripVTControlCharacters } from 'node:util'
import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { visible } from '../../render/safe.ts'
import { createSheet } from '../../render/sheet.ts'
import { firstState, withItem } from '../state/state.ts'
import { codeLines, loadColors, waitsForColors } from './code.ts'
import { continuesCode, markdownLines, splitFinished } from './markdown.ts'

const colored = createSheet({ width: 80, isColored: true })
const bare = createSheet({ width: 80, isColored: false })
const block = (text: string, info: string, isOpen = false) => codeLines({ text, info, isOpen }, colored)
const green = (text: string) => `\u001b[32m${text}\u001b[39m`
const magenta = (text: string) => `\u001b[35m${text}\u001b[39m`
const cyan = (text: string) => `\u001b[36m${text}\u001b[39m`
const dim = (text: string) => `\u001b[2m${text}\u001b[22m`

describe('before the colors are loaded', () => {
  test('code has one color, and only a block that names its language waits for them', () => {
    expect(block("const a = 'b'", 'ts')).toEqual([`  ${cyan("const a = 'b'")}`])
    const waits = ['```ts\nx', 'See:\n\n~~~ py\nx\n~~~', '- a\n\n  ```sh\n  ls\n  ```', '> ```c\n> x'].map(
      waitsForColors,
    )
    expect(waits).toEqual([true, true, true, true])
    expect(['```\nx\n```', 'Use `ls` and ``a``.', 'a```ts', ''].map(waitsForColors)).toEqual([
      false,
      false,
      false,
      false,
    ])
  })
})

describe('once they are loaded', () => {
  beforeAll(loadColors)

  test('words of the language, strings and comments differ, and nothing waits', () => {
    expect(block("const a = 'b' // c\n\nreturn 12", 'ts')).toEqual([
      `  ${magenta('const')} a = ${green("'b'")} ${dim('// c')}`,
      '',
      `  ${magenta('return')} ${cyan('12')}`,
    ])
    expect(waitsForColors('```ts\nx')).toBe(false)
  })

  test('a comment over several lines has its color on each, and code inside of a string is code', () => {
    expect(block('/* a\n b */ x', 'js')).toEqual([`  ${dim('/* a')}`, `  ${dim(' b */')} x`])
    expect(block('`a $' + '{b + 1} c`', 'js')[0]).toContain(`{b + ${cyan('1')}}`)
  })

  test('after code inside of a string, the string has its color again', () => {
    expect(block('`a $' + '{1} c` + 2', 'js')).toEqual([
      `  ${green('`a ')}$` + `{${cyan('1')}}${green(' c`')} + ${cyan('2')}`,
    ])
  })

  test('the same text in two languages has the colors of each', () => {
    expect([block('# let', 'sh'), block('# let', 'js')]).toEqual([[`  ${dim('# let')}`], [`  # ${magenta('let')}`]])
  })

  test('names of languages are found in any form that people write', () => {
    for (const info of ['ts', 'TypeScript', 'ts title="a.ts"', 'ts,ignore', 'tsx', 'ts …'])
      expect([info, block('const', info)]).toEqual([info, [`  ${magenta('const')}`]])
    for (const info of ['', 'nothing', '…', '-', 'constructor', '__proto__'])
      expect([info, block('const', info)]).toEqual([info, [`  ${cyan('const')}`]])
  })

  test('the line that is being written waits for its end', () => {
    expect(block('let a\nlet b', 'js', true)).toEqual([`  ${magenta('let')} a`, `  ${cyan('let b')}`])
    expect(block('let', 'js', true)).toEqual([`  ${cyan('let')}`])
    expect(block('let a\n', 'js', true)).toEqual([`  ${magenta('let')} a`, ''])
  })

  test('very long code has one color, exactly from the limit on', () => {
    const lines = (length: number) => block(`let${' '.repeat(length - 4)}1`, 'js').join('')
    expect(lines(16_000)).toContain(magenta('let'))
    expect(lines(16_001)).not.toContain('\u001b[35m')
  })

  test('without colors there are none', () => {
    expect(markdownLines("```ts\nconst a = 'b'\n```", bare)).toEqual(['  ts', "  const a = 'b'"])
  })

  test('a block that is written line by line keeps the lines that are finished', () => {
    const text = '```py\ndef f(x):\n    return "a"\n\nf(1)\n'
    let before: readonly string[] = []
    // From its first line of code on.
    for (let end = 7; end <= text.length; end++) {
      const lines = markdownLines(text.slice(0, end), colored)
      if (text[end - 1] === '\n') {
        expect(lines.slice(0, before.length)).toEqual(before)
        before = lines
      }
    }
    expect(markdownLines(`${text}\`\`\``, colored)).toEqual(before)
  })

  test('a long block that is split keeps its language', () => {
    const text = `\`\`\`js\n${'let a = 1\n'.repeat(900)}`
    const { finished, rest } = splitFinished(text)
    expect(rest.split('\n')[0]).toBe('```js …')
    const more = splitFinished(`${rest}${'let b = 2\n'.repeat(900)}`)
    expect(more.rest.split('\n')[0]).toBe('```js …')
    expect(markdownLines(`${more.rest}let c\n`, colored)).toEqual([`  ${magenta('let')} c`])
    const shown = [finished, rest].reduce((state, part) => withItem(state, { type: 'answer', text: part }), firstState)
    expect(withItem(shown, { type: 'answer', text: 'Done.' }).items.map((item) => item?.hasGap)).toEqual([
      false,
      false,
      true,
    ])
    const longLine = `\`\`\`js\n${'x'.repeat(9_000)}`
    expect(splitFinished(longLine)).toEqual({ finished: '', rest: longLine })
    expect([finished, rest, more.finished].map(continuesCode)).toEqual([false, true, true])
    expect(splitFinished(`\`\`\`\n${'x\n'.repeat(3_000)}y`).rest).toBe('```…\ny')
  })

  test('whatever the code is, its text stays and no other escapes come in', () => {
    const languages = ['ts', 'py', 'html', 'bash', 'json', 'diff', 'markdown', 'yaml', 'php', 'sql', 'none']
    const part = fc.constantFrom(
      '<',
      '>',
      '&amp;',
      '&lt;',
      '</span>',
      '<span class="hljs-keyword">',
      '"',
      "'",
      '`',
      '${',
      '}',
      '/*',
      '*/',
      '#',
      '\n',
      '\n\n',
      'if',
      ' ',
      '\u001b[31m',
      '\u0007',
      '\u202e',
      '漢字',
      '1',
    )
    fc.assert(
      fc.property(fc.array(part, { maxLength: 40 }), fc.constantFrom(...languages), (parts, language) => {
        const markdown = `~~~${language}\n${parts.join('')}\n~~~`
        const shown = markdownLines(markdown, createSheet({ width: 1_000, isColored: true }))
        const plainly = markdownLines(markdown, createSheet({ width: 1_000, isColored: false }))
        expect(shown.map(stripVTControlCharacters)).toEqual(plainly)
        const codes = shown.join('').split('\u001b').slice(1)
        expect(codes.filter((code) => !/^\[(?:[1-4]|2[1-4]|3[1256]|39)m/.test(code))).toEqual([])
        expect(plainly.join('')).toBe(plainly.map(visible).join(''))
      }),
    )
  })
})

// Bash itself says what a script runs: nothing that was not found in it.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { setFolder } from '../testing/folder.ts'
import { readScript } from './script.ts'
import type { Words } from './words.ts'

const temporary = setFolder()
const bash = '/bin/bash'

/** No program is found, so each command is printed instead, one JSON-like line of its words. */
const harness = `command_not_found_handle() { local words; printf -v words '%s\\037' "$@"; printf '%s\\036' "$words" >&3; return 0; }; PATH=/nowhere; unset HOME`

/** The commands that Bash would run, of scripts that are each run in a shell of their own. */
function commandsByBash(script: string, folder: string): readonly (readonly string[])[] {
  const { output } = spawnSync(bash, ['-c', `${harness}\n${script}`], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
    encoding: 'utf8',
    timeout: 10_000,
  })
  return (output[3] ?? '')
    .split('\x1e')
    .slice(0, -1)
    .map((line) => line.split('\x1f').slice(0, -1))
}

const word = fc.constantFrom(
  'qa',
  'qb',
  'qc',
  '-x',
  '--to=qd',
  'q.e',
  'q/f',
  'HEAD~1',
  'a^b',
  'q:r',
  '@q',
  '%q',
  '+q',
  'q,q',
)
const quoted = fc.constantFrom(
  '"$(qz)"',
  '"`qz`"',
  '"\\"',
  `'q a'`,
  `"q b"`,
  `'$x;qz'`,
  `"a'b"`,
  `'a"b'`,
  `""`,
  `''`,
  `"#"`,
  `'|'`,
)
const sign = fc.constantFrom(...[' && ', ' || ', ';', ' | ', '\n', '|', '&&', ' ', ' ', ' ', '\t'])
const odd = fc.constantFrom(
  ...[
    '$q',
    '$(qz)',
    '`qz`',
    '"$(qz)"',
    '>f',
    '<f',
    '>>f',
    '2>f',
    '&',
    '|&',
    '&>f',
    '<(qz)',
    '(',
    ')',
    '{',
    '}',
    '\\',
    '\\\n',
    '*',
    '?',
    '[a]',
  ],
  ...[
    '~',
    '!',
    '#',
    '=',
    'x=1',
    'if',
    'then',
    'fi',
    'time',
    'eval',
    '. f',
    ';;',
    '<<X',
    '\r',
    '\u000b',
    '\u0001',
    '"',
    "'",
    '{a,b}',
    '$',
    '-',
    '^',
    '[[',
  ],
)
const script = fc
  .array(
    fc.oneof(
      { weight: 6, arbitrary: word },
      { weight: 3, arbitrary: sign },
      { weight: 2, arbitrary: quoted },
      { weight: 1, arbitrary: odd },
    ),
    {
      minLength: 1,
      maxLength: 10,
    },
  )
  .map((parts) => parts.join(''))

test.skipIf(!existsSync(bash))(
  'of a plain script, Bash runs only the commands that were found, and changes no file',
  () => {
    let plain = 0
    const folder = join(temporary(), 'empty')
    mkdirSync(folder)
    fc.assert(
      fc.property(script, (text) => {
        const found = readScript(text).plain
        if (!found) return
        plain++
        const known = new Set(found.map((words) => JSON.stringify(words)))
        const unknown = commandsByBash(text, folder).filter((words) => !known.has(JSON.stringify(words)))
        expect(unknown).toEqual([])
        expect(readdirSync(folder)).toEqual([])
      }),
      { numRuns: 400 },
    )
    expect(plain).toBeGreaterThan(60)
  },
  120_000,
)

/** Grammar of all kinds, whole and torn. */
const grammar = fc.constantFrom(
  ...['x=qa', 'x+=q', 'a[1]=qb', '((', '))', '{ ', '; }', '{qa,qb}', 'q{a,b}', '{1..2}', '"$x"', '"$@"', '$((1+1))'],
  ...[
    '$' + '{x:-qa}',
    '$' + '{x:=qb}',
    '$' + '{x/q/r}',
    '"$' + '{x:-$(qz)}"',
    '$' + '{x:-`qz`}',
    '$(( $(qz) ))',
    '$[1]',
  ],
  ...['<<<qa', '<<X\nqa $(qz)\nX\n', "<<'X'\nqb\nX\n", '<<-X\n\tqa\nX\n', '$(qa <<X\nqz\nX\n)', '\\;', '\\$', '\\"'],
  ...["$'q\\x61'", '$"q"', '# c\n', '! ', '[[ ', ' ]]', 'if ', '; then ', '; fi', 'for x in qa qb; do ', '; done'],
  ...['case qa in qa) ', ';; esac', 'f() { ', 'f ', 'function g { ', 'eval ', 'exec ', 'bash -c ', 'command '],
  ...['alias qq=qz\n', 'trap qz EXIT\n', '"a\\"b"', '"\\`"', '"\\$x"', '@(qa)'],
)
const anyScript = fc
  .array(fc.oneof(word, sign, quoted, odd, grammar, grammar), { minLength: 1, maxLength: 9 })
  .map((parts) => parts.join(''))

/** Whether the words that Bash ran are these, as far as they were known. */
function couldBe(words: Words, ran: readonly string[]): boolean {
  const unknown = words.findIndex(({ type }) => type !== 'literal')
  const known = unknown < 0 ? words : words.slice(0, unknown)
  const isSame = known.every((each, at) => each.type === 'literal' && each.text === ran[at])
  return isSame && (unknown >= 0 || ran.length === words.length)
}

test.skipIf(!existsSync(bash))(
  'Bash runs no command that was not found, unless there was doubt about the script',
  () => {
    let ran = 0
    const folder = temporary()
    fc.assert(
      fc.property(anyScript, (text) => {
        // The parser takes text next to a process substitution for another word.
        fc.pre(!/[<>]\(/.test(text))
        const { commands, unseen } = readScript(text)
        if (unseen.length > 0) return
        const byBash = commandsByBash(text, folder)
        ran += byBash.length
        expect(byBash.filter((words) => !commands.some((each) => couldBe(each, words)))).toEqual([])
      }),
      { numRuns: 300 },
    )
    expect(ran).toBeGreaterThan(30)
  },
  120_000,
)

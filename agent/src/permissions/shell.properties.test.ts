// Bash itself is asked what a script runs: whatever simpleCommands takes for simple must run just these commands.
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { setFolder } from '../testing/folder.ts'
import { simpleCommands, type Words } from './shell.ts'

const temporary = setFolder()
const bash = '/bin/bash'

/** No program is found, so each command is printed instead, one JSON-like line of its words. */
const harness = `command_not_found_handle() { local words; printf -v words '%s\\037' "$@"; printf '%s\\036' "$words" >&3; return 0; }; PATH=/nowhere; unset HOME`

/** The commands that Bash would run, of scripts that are each run in a shell of their own. */
function commandsByBash(script: string, folder: string): readonly Words[] {
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
  'Bash runs only the commands that were found, and changes no file',
  () => {
    let simple = 0
    const folder = join(temporary(), 'empty')
    mkdirSync(folder)
    fc.assert(
      fc.property(script, (text) => {
        const found = simpleCommands(text)
        if (!found) return
        simple++
        const known = new Set(found.map((words) => JSON.stringify(words)))
        const unknown = commandsByBash(text, folder).filter((words) => !known.has(JSON.stringify(words)))
        expect(unknown).toEqual([])
        expect(readdirSync(folder)).toEqual([])
      }),
      { numRuns: 600 },
    )
    expect(simple).toBeGreaterThan(100)
  },
  120_000,
)

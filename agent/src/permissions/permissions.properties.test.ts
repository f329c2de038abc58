import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Place } from '../files/paths.ts'
import { type Access, decide } from './decide.ts'
import { formatRule, parseRule, parseRules } from './rule.ts'
import { readScript } from './script.ts'

const root = '/repo'
const rulesOf = (allow: readonly string[], deny: readonly string[] = []) => parseRules({ allow, deny }).rules
const decided = (access: Access, allow: readonly string[], deny: readonly string[] = []) =>
  decide(access, { mode: 'ask', rules: rulesOf(allow, deny), root }).type
const run = (command: string): Access => ({ type: 'run', script: readScript(command) })
const placeAt = (real: string): Place => {
  const isInside = real === root || real.startsWith(`${root}/`)
  return { path: real, real, shown: real, isInside, leadsOut: false }
}

const word = fc.stringMatching(/^[a-z][a-z0-9./-]{0,8}$/)
/** Whatever a shell gives a meaning to. */
const operator = fc.constantFrom(
  ...[
    '&&',
    '||',
    ';',
    '|',
    '&',
    '\n',
    '>',
    '>>',
    '<',
    '<<X\n',
    '|&',
    '$(',
    '`',
    '<(',
    '>(',
    '2>',
    '&>',
    '\\\n',
    '${',
    '$',
  ],
)
const anything = fc.array(
  fc.oneof(word, operator, fc.constantFrom(' ', '"', "'", '(', ')', '{', '}', '\\', '*', '#', '=')),
  {
    maxLength: 12,
  },
)

test('what follows an allowed command after an operator is never allowed with it', () => {
  fc.assert(
    fc.property(word, operator, anything, fc.constantFrom('', ' '), (other, sign, rest, space) => {
      fc.pre(!other.startsWith('git'))
      const command = `git log${space}${sign}${space}${other} ${rest.join('')}`
      expect(decided(run(command), ['Bash(git log:*)'])).toBe('ask')
    }),
  )
})

test('a prefix rule allows only scripts whose every command starts with its words', () => {
  fc.assert(
    fc.property(anything, (parts) => {
      const command = `git log ${parts.join('')}`
      const isAllowed = decided(run(command), ['Bash(git log:*)']) === 'allow'
      const commands = readScript(command).plain
      expect(isAllowed).toBe(commands?.every(([a, b]) => a === 'git' && b === 'log') ?? false)
      if (isAllowed) expect(command.replace(/#[^\n]*/g, '')).not.toMatch(/[$`<>]|&(?!&)(?<!&&)/)
    }),
  )
})

test('the rules that "always" adds allow this script, and others only if every command starts like one of it', () => {
  const command = fc
    .oneof(
      anything.map((parts) => parts.join('')),
      fc.string({ maxLength: 20 }),
    )
    .filter((text) => text.trim() !== '')
  fc.assert(
    fc.property(command, command, (given, other) => {
      const decision = decide(run(given), { mode: 'ask', rules: rulesOf([]), root })
      if (decision.type !== 'ask' || decision.rules.length === 0) return
      const rules = { allow: decision.rules, deny: [] }
      const after = (text: string) => decide(run(text), { mode: 'ask', rules, root }).type
      expect(after(given)).toBe('allow')
      const isCovered = (words: readonly string[]) =>
        decide(run(quotedScript(words)), { mode: 'ask', rules: rulesOf([]), root }).type === 'allow' ||
        decision.rules.some((rule) =>
          rule.type === 'command-prefix'
            ? rule.words.every((word, at) => words[at] === word)
            : JSON.stringify(readScript(given).plain) === JSON.stringify([words]),
        )
      const isSame = other.trim() === given.trim() || (readScript(other).plain?.every(isCovered) ?? false)
      expect(after(other)).toBe(isSame ? 'allow' : 'ask')
      // Read back from settings they mean the same.
      for (const rule of decision.rules) expect(parseRule(formatRule(rule))).toEqual({ type: 'rule', rule })
    }),
  )
})

function quotedScript(words: readonly string[]): string {
  return words.map((word) => `'${word.replaceAll("'", `'"'"'`)}'`).join(' ')
}

test('a denied program is denied wherever it is in a script, in every mode', () => {
  const before = fc.constantFrom(
    '',
    'a; ',
    'a && ',
    'a | ',
    'a\n',
    '(',
    '{ ',
    '$(',
    'x `',
    'sudo ',
    'env A=1 ',
    'B=2 ',
    'a & ',
  )
  const mode = fc.constantFrom('ask' as const, 'allow' as const, 'accept-edits' as const, 'plan' as const)
  fc.assert(
    fc.property(
      before,
      fc.constantFrom('rm', '/bin/rm', '"rm"', 'r\\m'),
      fc.array(word, { maxLength: 3 }),
      mode,
      (start, rm, rest, how) => {
        const command = `${start}${rm} ${rest.join(' ')}`
        const rules = rulesOf(['Bash'], ['Bash(rm:*)'])
        expect(decide(run(command), { mode: how, rules, root }).type).toBe('deny')
      },
    ),
  )
})

test('whatever the rules allow, a denied path is denied; nothing outside is read without a rule', () => {
  const part = fc.constantFrom('src', 'a.ts', '.env', 'secret', 'etc', '..b', '[x]', 'a*b')
  const path = fc
    .tuple(fc.constantFrom('/repo', '/etc', '/repository', '/home'), fc.array(part, { maxLength: 4 }))
    .map(([top, parts]) => [top, ...parts].join('/'))
  const type = fc.constantFrom('read' as const, 'write' as const)
  fc.assert(
    fc.property(path, type, (given, kind) => {
      const access: Access = { type: kind, tool: kind === 'read' ? 'Read' : 'Edit', place: placeAt(given) }
      const isEnv = given.startsWith('/repo/') && given.split('/').includes('.env')
      expect(decided(access, ['Read', 'Edit'], ['Read(.env)', 'Edit(.env)'])).toBe(isEnv ? 'deny' : 'allow')
      const isInside = given === root || given.startsWith('/repo/')
      expect(decided(access, [])).toBe(kind === 'read' && isInside ? 'allow' : 'ask')
    }),
  )
})

test('the rule that "always" adds for a file covers it and no sibling', () => {
  const name = fc.string({ minLength: 1, maxLength: 10 }).filter((text) => !/[/\0]|^\.{1,2}$|^\s|\s$/.test(text))
  fc.assert(
    fc.property(fc.constantFrom('/repo', '/etc'), name, name, (folder, mine, other) => {
      const write = (file: string): Access => ({ type: 'write', tool: 'Edit', place: placeAt(`${folder}/${file}`) })
      const decision = decide(write(mine), { mode: 'ask', rules: rulesOf([]), root })
      if (decision.type !== 'ask' || decision.rules.length === 0) return
      const after = (file: string) =>
        decide(write(file), { mode: 'ask', rules: { allow: decision.rules, deny: [] }, root }).type
      expect(after(mine)).toBe('allow')
      expect(after(other)).toBe(other === mine ? 'allow' : 'ask')
    }),
  )
})

import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, test } from 'vitest'
import type { HookCall } from '../../core/ports/hooks.ts'
import { noOutcome } from '../../core/ports/hooks.ts'
import { type HookChoices, type HookFunction, hooksFor, maxOutput } from './hooks.ts'
import { type HookSettings, readHookSettings } from './settings.ts'

const folder = mkdtempSync(join(tmpdir(), 'everlong-hooks-'))
afterAll(() => rmSync(folder, { recursive: true }))

const before: HookCall = { event: 'PreCompact', trigger: 'manual', instructions: 'keep the schema' }
const after: HookCall = {
  event: 'PostCompact',
  trigger: 'auto',
  summary: 'all of it',
  tokensBefore: 9,
  tokensAfter: 3,
  fidelity: {
    humanMessages: { total: 1, verbatim: 1, shortened: 0, putIn: 0 },
    falseQuotes: [],
    inferredApprovals: [],
    contradicted: [],
    unsupported: [],
    missingSections: [],
    ledgerTokens: 0,
  },
}
const start: HookCall = { event: 'SessionStart', source: 'compact' }

const hooksOf = (choices: HookChoices) => hooksFor(choices, { id: 's1', path: join(folder, 's1.jsonl'), cwd: folder })

/** Shell commands for one event, without a matcher. */
const shell = (event: keyof HookSettings, ...commands: readonly (string | { command: string; timeout: number })[]) =>
  hooksOf({
    settings: {
      [event]: [
        {
          hooks: commands.map((command) => ({
            type: 'command',
            ...(typeof command === 'string' ? { command } : command),
          })),
        },
      ],
    },
  })

describe('shell commands', () => {
  test('what a PreCompact hook prints are more instructions, in the order of configuration', async () => {
    expect(await shell('PreCompact', 'sleep 0.2; echo first', 'echo second', 'true').run(before)).toEqual({
      ...noOutcome,
      instructions: ['first', 'second'],
    })
  })

  test('what a SessionStart hook prints is context for the model', async () => {
    expect(await shell('SessionStart', 'echo the sprint ends on Friday').run(start)).toEqual({
      ...noOutcome,
      context: ['the sprint ends on Friday'],
    })
  })

  test('a command is told what happens, as JSON on its stdin', async () => {
    const { instructions } = await shell('PreCompact', 'cat').run(before)
    expect(instructions).toEqual([])
    const out = join(folder, 'told.json')
    await shell('PreCompact', `cat > ${out}`).run(before)
    expect(JSON.parse(readFileSync(out, 'utf8'))).toEqual({
      session_id: 's1',
      transcript_path: join(folder, 's1.jsonl'),
      cwd: folder,
      hook_event_name: 'PreCompact',
      trigger: 'manual',
      custom_instructions: 'keep the schema',
    })
    await shell('PreCompact', `cat > ${out}`).run({ event: 'PreCompact', trigger: 'auto', instructions: '' })
    expect(JSON.parse(readFileSync(out, 'utf8'))).toMatchObject({ trigger: 'auto', custom_instructions: null })
    await shell('PostCompact', `cat > ${out}`).run(after)
    expect(JSON.parse(readFileSync(out, 'utf8'))).toMatchObject({
      compact_summary: 'all of it',
      tokens_before: 9,
      tokens_after: 3,
      fidelity: { humanMessages: { total: 1 } },
    })
  })

  test('exit code 2 and a block decision are vetoes with their reason; the first counts', async () => {
    expect(
      await shell('PreCompact', 'echo not now >&2; exit 2', `echo '{"decision":"block","reason":"later"}'`).run(before),
    ).toEqual({
      ...noOutcome,
      veto: 'not now',
    })
    expect((await shell('PreCompact', `echo '{"decision":"block","reason":"later"}'`).run(before)).veto).toBe('later')
  })

  test.each([
    ['a command before it has something to say', 'echo keep the schema', 'echo not now >&2; exit 2'],
    ['a command before it fails', 'exit 1', `echo '{"decision":"block","reason":"not now"}'`],
  ])('a veto counts wherever it is: %s', async (_, first, second) => {
    expect((await shell('PreCompact', first, second, 'echo and more').run(before)).veto).toBe('not now')
  })

  test('an abort ends a command at once', async () => {
    const stop = new AbortController()
    const running = shell('PreCompact', 'sleep 30').run(before, { signal: stop.signal })
    stop.abort()
    expect((await running).problems).toEqual([
      'hook "sleep 30" of PreCompact: ended because the compaction was aborted',
    ])
  })

  test('a command is not left running where the compaction was stopped before', async () => {
    const running = shell('PreCompact', 'sleep 30').run(before, { signal: AbortSignal.abort() })
    expect((await running).problems).toEqual([expect.stringContaining('the compaction was aborted')])
  })

  test.each([
    ['exit code 2', 'exit 2'],
    ['a block decision', `echo '{"decision":"block"}'`],
    ['a block decision with an empty reason', `echo '{"decision":"block","reason":" "}'`],
  ])('%s without a reason is a veto all the same', async (_, command) => {
    expect((await shell('PreCompact', command).run(before)).veto).toBe('blocked by a hook')
  })

  test('only PreCompact can give the summary or instructions', async () => {
    const said = { hookSpecificOutput: { newCustomInstructions: 'a', additionalContext: 'b', summary: 'd' } }
    expect(await shell('SessionStart', `echo '${JSON.stringify(said)}'`).run(start)).toEqual({
      ...noOutcome,
      context: ['b'],
    })
  })

  test.each([
    ['messages', 'PostCompact', 'userDisplayMessage', after],
    ['context', 'SessionStart', 'additionalContext', start],
    ['instructions', 'PreCompact', 'newCustomInstructions', before],
  ] as const)('long %s are cut as well', async (kind, event, name, call) => {
    const script = `const x = 'x'.repeat(${maxOutput * 2}); console.log(JSON.stringify({ hookSpecificOutput: { ${name}: x } }))`
    const outcome = await shell(event, `"${process.execPath}" -e "${script}"`).run(call)
    expect(outcome[kind]).toEqual([expect.stringMatching(/^x{10000}\n\[cut: the whole output is in /)])
  })

  test('a command that no process can be given is reported', async () => {
    const { problems } = await shell('PreCompact', 'echo \u0000').run(before)
    expect(problems).toEqual([expect.stringContaining('could not be started')])
  })

  test('only PreCompact can veto', async () => {
    const { veto, problems } = await shell('SessionStart', 'echo no >&2; exit 2').run(start)
    expect(veto).toBeUndefined()
    expect(problems).toHaveLength(1)
  })

  test('a JSON answer may add instructions, context, a word for the person, or be the summary', async () => {
    const said = {
      hookSpecificOutput: { newCustomInstructions: 'a', additionalContext: 'b', userDisplayMessage: 'c', summary: 'd' },
    }
    expect(await shell('PreCompact', `echo '${JSON.stringify(said)}'`).run(before)).toEqual({
      ...noOutcome,
      instructions: ['a'],
      context: ['b'],
      messages: ['c'],
      summary: 'd',
    })
  })

  test('other exit codes, garbage, time-outs and commands that are not there are reported and not fatal', async () => {
    const { problems, ...rest } = await shell(
      'PreCompact',
      'echo oops >&2; exit 1',
      `printf '{"decision": 5}'`,
      `printf '{not json'`,
      `printf 'a\\000b'`,
      { command: 'sleep 30 & sleep 30', timeout: 0.2 },
      'definitely-no-such-command-here',
      'echo still heard',
    ).run(before)
    const { problems: _, ...none } = noOutcome
    expect(rest).toEqual({ ...none, instructions: ['still heard'] })
    expect(problems.map((problem) => problem.replace(/^.*of PreCompact: /, ''))).toEqual([
      'exit code 1: oops',
      'its output is not understood: decision',
      'its output begins like JSON and is none',
      'its output is no text',
      'ended after 0.2 s without finishing',
      expect.stringContaining('exit code 127'),
    ])
  })

  test('long output is cut, and the whole of it is in a file that is named', async () => {
    const { instructions } = await shell('PreCompact', `head -c ${maxOutput * 2} /dev/zero | tr '\\0' x`).run(before)
    const [, path] = /\[cut: the whole output is in (.+)\]$/.exec(instructions[0] ?? '') ?? []
    expect(readFileSync(path ?? '', 'utf8')).toBe('x'.repeat(maxOutput * 2))
    // It may hold secrets, so other users must not read it.
    expect(statSync(path ?? '').mode & 0o077).toBe(0)
    expect(instructions[0]?.startsWith('x'.repeat(maxOutput))).toBe(true)
    // Messages for the person are cut as well.
    const { messages } = await shell('PostCompact', `head -c ${maxOutput * 2} /dev/zero | tr '\\0' x`).run(after)
    expect(messages).toEqual([expect.stringMatching(/^x{10000}\n\[cut: the whole output is in .+\]$/)])
  })

  test('each long output is kept apart: of two hooks, of a second run, and after the session was opened again', async () => {
    const printing = (letter: string) => `head -c ${maxOutput + 1} /dev/zero | tr '\\0' ${letter}`
    const both = shell('PreCompact', printing('a'), printing('b'))
    const outcomes = [await both.run(before), await both.run(before)]
    outcomes.push(await shell('PreCompact', printing('c')).run(before))
    const kept = outcomes.flatMap(({ instructions }) =>
      instructions.map((text) => readFileSync(/output is in (.+)\]$/.exec(text)?.[1] ?? '', 'utf8')),
    )
    expect(kept).toEqual(['a', 'b', 'a', 'b', 'c'].map((letter) => letter.repeat(maxOutput + 1)))
  })

  test('output of exactly the limit is whole, and a veto has the same limit', async () => {
    const { instructions } = await shell('PreCompact', `head -c ${maxOutput} /dev/zero | tr '\\0' x`).run(before)
    expect(instructions).toEqual(['x'.repeat(maxOutput)])
    const { veto } = await shell('PreCompact', `head -c ${maxOutput + 1} /dev/zero | tr '\\0' x >&2; exit 2`).run(
      before,
    )
    expect(veto).toMatch(/^x{10000}\n\[cut: the whole output is in .+\]$/)
  })

  test('one hook that fails or hangs does not silence the other', async () => {
    const { instructions, problems } = await shell(
      'PreCompact',
      { command: 'echo late; sleep 30', timeout: 0.1 },
      'echo said',
      'echo no; exit 3',
    ).run(before)
    expect([instructions, problems]).toEqual([
      ['said'],
      [expect.stringContaining('ended after 0.1 s without finishing'), expect.stringContaining('exit code 3')],
    ])
  })

  test('a matcher picks by trigger or source', async () => {
    const settings: HookSettings = {
      PreCompact: [
        { matcher: 'auto', hooks: [{ type: 'command', command: 'echo for auto' }] },
        { matcher: 'auto|manual', hooks: [{ type: 'command', command: 'echo for both' }] },
        { matcher: '*', hooks: [{ type: 'command', command: 'echo always' }] },
      ],
    }
    expect((await hooksOf({ settings }).run(before)).instructions).toEqual(['for both', 'always'])
  })

  test('a command that does not read what it is told does no harm', async () => {
    const long: HookCall = { ...before, instructions: 'x'.repeat(1_000_000) }
    expect((await shell('PreCompact', 'exec 0<&-; echo fine').run(long)).instructions).toEqual(['fine'])
  })
})

describe('functions of the host', () => {
  test('they say what commands can say; what they throw is reported', async () => {
    const hooks = hooksOf({
      functions: {
        PreCompact: [
          () => ({ instructions: ['', 'from code'], context: [' ', 'seen'] }),
          () => Promise.reject(new Error('broken')),
          () => undefined,
        ],
      },
    })
    expect(await hooks.run(before)).toEqual({
      ...noOutcome,
      instructions: ['from code'],
      context: ['seen'],
      problems: ['hook function 2 of PreCompact: broken'],
    })
  })
})

describe('functions that misbehave', () => {
  const said = async (hook: () => unknown, signal?: AbortSignal) =>
    hooksOf({ timeoutMs: 20, functions: { PreCompact: [hook as HookFunction, () => ({ veto: 'not now' })] } }).run(
      before,
      { signal },
    )

  test.each([
    ['throws', () => Promise.reject(new Error('broken')), 'broken'],
    ['hangs', () => new Promise(() => undefined), 'did not answer within 0.02 s'],
    ['returns a number', () => 5, 'returned 5'],
    ['returns a text', () => 'no', 'returned "no"'],
  ])('one that %s is reported, and the others are heard', async (_, hook, why) => {
    expect(await said(hook)).toEqual({
      ...noOutcome,
      veto: 'not now',
      problems: [`hook function 1 of PreCompact: ${why}`],
    })
  })

  test('of an outcome, only what has the right shape is taken', async () => {
    const outcome = { veto: true, summary: 5, instructions: 'keep', context: ['a', 7, ' '], messages: null }
    expect(await hooksOf({ functions: { PreCompact: [(() => outcome) as never] } }).run(before)).toEqual({
      ...noOutcome,
      veto: 'A hook said no.',
      context: ['a'],
    })
  })

  test('an abort ends the waiting for a function at once', async () => {
    const stop = new AbortController()
    const hooks = hooksOf({ functions: { PreCompact: [() => new Promise(() => undefined)] } })
    const running = hooks.run(before, { signal: stop.signal })
    stop.abort()
    expect((await running).problems).toHaveLength(1)
  })
})

describe('settings', () => {
  test('the form that users of coding agents know is read', () => {
    const value = { PreCompact: [{ matcher: 'manual', hooks: [{ type: 'command', command: 'x', timeout: 5 }] }] }
    expect(readHookSettings(value)).toEqual({ type: 'read', settings: value })
    expect(readHookSettings(undefined)).toEqual({ type: 'read', settings: {} })
  })

  test('a mistake is reported with its place', () => {
    expect(readHookSettings({ PreCompact: [{ hooks: [{ type: 'command' }] }] })).toEqual({
      type: 'wrong',
      problem: expect.stringContaining('hooks.PreCompact.0.hooks.0.command'),
    })
    expect(readHookSettings({ Precompact: [] })).toMatchObject({ type: 'wrong' })
  })
})

import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { JsonObject } from 'everlong/internal'
import { serialize, session, toolUseBlock } from 'everlong/internal/testing'
import { openArchive } from 'everlong/node'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { compactInstructions } from '../../shared/instructions.ts'
import { inBackground } from './background.ts'
import { onHook } from './hook.ts'
import { projectFolder, sessionName } from './project.ts'

const rule = 'From now on never touch the file schema.sql.'
const wish = 'Rename the column total to amount, please, in every report.'
const summary = '<summary>\n1. The reports were read. The user approved the release.\n</summary>'

const conversation = () =>
  session()
    .user(`Read the reports first. ${rule}`)
    .toolUse('t0', 'Read', { file_path: '/reports/a.csv' })
    .toolResult('t0', 'total,17,cents\n'.repeat(2_000))
    .assistant('I have read the three reports. The totals are in cents.')
    .user(wish)
    .assistant([toolUseBlock('t1', 'Bash', { command: 'npm test' })])
    .toolResult('t1', 'FAIL reports.test.ts: expected 3, got 2', { isError: true })
    .assistant('One test fails: the report still reads total.')

let folder: string
let transcript: string
let data: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'everlong-plugin-'))
  transcript = join(folder, 's1.jsonl')
  data = join(folder, 'data')
  write(conversation().records)
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const write = (records: readonly JsonObject[]) => writeFileSync(transcript, records.map(serialize).join(''))
const event = (name: string, more: object = {}) => ({
  ...{ session_id: 's1', transcript_path: transcript, hook_event_name: name },
  ...more,
})
const hook = (name: string, more: object = {}) => onHook(event(name, more), data)
const contextOf = (output: string | undefined) => JSON.parse(output ?? '{}').hookSpecificOutput?.additionalContext

test('the summarizer is asked to keep what matters, from the first context on', () => {
  const path = join(import.meta.dirname, '../hooks/session-start.json')
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({
    hookSpecificOutput: { hookEventName: 'SessionStart', additionalContext: compactInstructions },
  })
})

/** Claude Code prints a line, and the output, of every hook for these events. */
test('no hook runs where Claude Code would show it to the person', () => {
  const { hooks } = JSON.parse(readFileSync(join(import.meta.dirname, '../hooks/hooks.json'), 'utf8'))
  expect(Object.keys(hooks)).not.toContain('PreCompact')
  expect(Object.keys(hooks)).not.toContain('PostCompact')
})

describe('the new context starts with the rules of the user', () => {
  const given = `What the user asked for once and for all in this session, word for word:\n- "${rule}"`

  test('before the instructions for the next summary', async () => {
    expect(JSON.parse((await hook('SessionStart', { source: 'compact' })) ?? '')).toEqual({
      hookSpecificOutput: { hookEventName: 'SessionStart', additionalContext: `${given}\n\n${compactInstructions}` },
    })
  })

  test('or with the instructions alone, where there are none', async () => {
    write(session().user('Read the reports.').assistant('Done.').records)
    expect(contextOf(await hook('SessionStart'))).toBe(compactInstructions)
  })

  test('never longer than Claude Code lets a hook say', async () => {
    write(session().user(Array.from({ length: 400 }, (_, at) => `Never touch file number ${at}.`).join(' ')).records)
    const text = contextOf(await hook('SessionStart'))
    expect([text.includes('Never touch file number'), text.length <= 10_000]).toEqual([true, true])
  })

  test('with what was said since they were read last', async () => {
    await hook('SessionStart')
    const later = session().user('Always answer in French.', { uuid: 'later' })
    appendFileSync(transcript, serialize(later.records[0] ?? {}))
    expect(contextOf(await hook('SessionStart'))).toContain(`${given}\n- "Always answer in French."\n`)
  })

  test.each([
    ['was rewritten since', () => write(session().user('Never use tabs.').records), '- "Never use tabs."'],
    ['has notes that nobody can read', () => writeFileSync(join(data, 'marks/s1.json'), '{"bytes":'), `- "${rule}"`],
  ])('also if it %s', async (_, change, expected) => {
    await hook('SessionStart')
    change()
    expect(contextOf(await hook('SessionStart'))).toContain(expected)
  })
})

describe('what the summary leaves out reaches the agent once', () => {
  /** As Claude Code does it: boundary and summary are written after the hook. */
  async function compacted(written = summary, talk = conversation()): Promise<void> {
    write(talk.records)
    await hook('SessionStart', { source: 'compact' })
    write(talk.boundary({ uuid: 'b1' }).summary(written).records)
  }

  test('with statements, state and claims, but no rule twice', async () => {
    await compacted()
    const text = contextOf(await hook('PostToolBatch'))
    expect(text).toContain(wish)
    expect(text).toContain('`npm test` failed')
    expect(text).toContain('approved the release')
    expect(text).not.toContain('## Rules')
    expect(text.length).toBeLessThan(10_000)
    expect(await hook('UserPromptSubmit')).toBeUndefined()
    for (const name of ['waiting', 'prepared']) expect(existsSync(join(data, name))).toBe(false)
  })

  test('and the person is told how much it is, in one line', async () => {
    await compacted()
    const output = JSON.parse((await hook('UserPromptSubmit')) ?? '{}')
    const items = output.hookSpecificOutput.additionalContext.match(/^- /gm).length
    expect(output.systemMessage).toBe(
      `Everlong gave back 1 rule and ${items - 1} facts; 1 doubtful claim: /everlong:lost`,
    )
    const lost = JSON.parse((await hook('UserPromptExpansion', { command_name: 'everlong:lost' })) ?? '{}')
    const [, given] = lost.reason.split('\n\nGiven back to the agent after the last compaction:\n\n')
    expect(given).toContain(rule)
    expect(given.endsWith(`\n\n${output.hookSpecificOutput.additionalContext}`)).toBe(true)
    const context = JSON.parse((await hook('UserPromptExpansion', { command_name: 'everlong:context' })) ?? '{}')
    expect(context.reason).not.toContain('Given back')
  })

  test('a person whose agent got only the rules is informed that', async () => {
    const talk = session().user(`${rule}`).assistant('I will not touch it.')
    await compacted(`1. "${rule}" 2. I will not touch it.`, talk)
    const { systemMessage } = JSON.parse((await hook('UserPromptSubmit')) ?? '{}')
    expect(systemMessage).toBe('Everlong gave back 1 rule: /everlong:lost')
  })

  test('nobody is told anything where nothing was given back', async () => {
    const talk = session().user('What is two and two?').assistant('Four.')
    await compacted('1. The user asked: "What is two and two?" The answer was: Four.', talk)
    expect(JSON.parse((await hook('UserPromptSubmit')) ?? '{}').systemMessage).toBeUndefined()
  })

  test('what the model wrote only on its scratchpad is missing', async () => {
    await compacted(`<analysis>"${wish}"</analysis>${summary}`)
    const text = contextOf(await hook('UserPromptSubmit'))
    expect(text).toContain(wish)
    expect(text).not.toContain('</summary>')
  })

  test('nothing, if the compaction failed after all', async () => {
    await hook('SessionStart', { source: 'compact' })
    appendFileSync(transcript, serialize(session().user('Go on.', { uuid: 'later' }).records[0] ?? {}))
    expect(JSON.parse((await hook('UserPromptSubmit')) ?? '{}').hookSpecificOutput).toBeUndefined()
    expect(await hook('UserPromptSubmit')).toBeUndefined()
  })

  describe.each([
    ['small', 1],
    ['large', 100_000],
  ])('in a %s transcript', (_, sentences) => {
    const spoken = () => conversation().user('Look at all of it.').assistant('It says total. '.repeat(sentences))

    test('the same if the background has read it', async () => {
      await compacted(summary, spoken())
      const expected = await hook('UserPromptSubmit')
      await compacted(summary, spoken())
      await inBackground(event('SessionStart'), data)
      expect(await hook('UserPromptSubmit')).toBe(expected)
      expect(existsSync(join(data, 'prepared'))).toBe(false)
    })

    test('from what the background has read, without reading it again', async () => {
      await compacted(summary, spoken())
      await inBackground(event('SessionStart'), data)
      const path = join(data, 'prepared/s1.json')
      writeFileSync(path, readFileSync(path, 'utf8').replaceAll('in every report', 'in each report'))
      expect(contextOf(await hook('UserPromptSubmit'))).toContain('in each report')
    })

    test('what was read for an earlier compaction is not used', async () => {
      await compacted(summary, spoken())
      const expected = await hook('UserPromptSubmit')
      await compacted(summary, spoken())
      const stale = { bytes: 17, source: { messages: [], ledger: {}, since: 0, recall: false } }
      mkdirSync(join(data, 'prepared'), { recursive: true })
      writeFileSync(join(data, 'prepared/s1.json'), JSON.stringify(stale))
      expect(await hook('UserPromptSubmit')).toBe(expected)
    })

    test('the background leaves nothing behind for an agent that has it already', async () => {
      await compacted(summary, spoken())
      await hook('UserPromptSubmit')
      await inBackground(event('SessionStart'), data)
      expect(existsSync(join(data, 'prepared'))).toBe(false)
    })
  })

  test('and no other session', async () => {
    await compacted()
    expect(await onHook(event('UserPromptSubmit', { session_id: 's2' }), data)).toBeUndefined()
    expect(contextOf(await hook('UserPromptSubmit'))).toContain(wish)
  })

  test('and no sub-agent', async () => {
    await compacted()
    expect(await hook('PostToolBatch', { agent_id: 'a1' })).toBeUndefined()
    expect(contextOf(await hook('PostToolBatch'))).toContain(wish)
  })

  test('what the summary quotes is not said again', async () => {
    await compacted(
      `<summary>\n- "Read the reports first. ${rule}"\n- "${wish}"\n- \`npm test\` failed: reports.test.ts: expected 3, got 2\n</summary>`,
    )
    expect(contextOf(await hook('UserPromptSubmit')) ?? '').not.toContain('What the user said')
  })

  test('a transcript that is gone is an error once', async () => {
    await compacted()
    rmSync(transcript)
    await expect(hook('UserPromptSubmit')).rejects.toThrow(transcript)
    expect(await hook('UserPromptSubmit')).toBeUndefined()
  })
})

test('what was read of old sessions is forgotten', async () => {
  await hook('SessionStart', { session_id: 's0' })
  utimesSync(join(data, 'marks/s0.json'), 0, 0)
  await hook('SessionStart')
  await inBackground(event('SessionStart'), data)
  expect([existsSync(join(data, 'marks/s0.json')), existsSync(join(data, 'marks/s1.json'))]).toEqual([false, true])
})

describe('commands are answered without the agent', () => {
  const ask = async (name: string) => JSON.parse((await hook('UserPromptExpansion', { command_name: name })) ?? '{}')

  test('lost', async () => {
    expect(await ask('everlong:lost')).toEqual({
      decision: 'block',
      reason:
        'Everlong answered. Nothing was sent to the model.\n\nNothing was lost: this session was never compacted.',
      hookSpecificOutput: { hookEventName: 'UserPromptExpansion', suppressOriginalPrompt: true },
    })
    write(conversation().boundary({ uuid: 'b1' }).summary(summary).records)
    const lost = (await ask('everlong:lost')).reason.replace(/\s+/g, ' ')
    expect(lost).toContain('This session lost 3 things that may still matter: 1 instruction, 1 request, 1 command.')
    expect([rule, wish].filter((words) => !lost.includes(words))).toEqual([])
    expect(lost).not.toContain('everlong recall')
  })

  test('context', async () => {
    expect((await ask('everlong:context')).reason).toContain('By kind')
  })

  test('compact: appended when the session ends, and undo takes it back the same way', async () => {
    const before = readFileSync(transcript, 'utf8')
    expect((await ask('everlong:compact')).reason).toContain('claude --resume s1')
    // What Claude Code writes about the command itself.
    const user = (words: string) => JSON.stringify({ type: 'user', message: { role: 'user', content: words } })
    const notice = [
      `{"type":"system","subtype":"informational","parentUuid":"a3","uuid":"i1","content":"x"}`,
      user('<local-command-caveat>The command below was run directly.</local-command-caveat>'),
      user('<command-name>/everlong:compact</command-name>\n <command-args></command-args>'),
      '',
    ].join('\n')
    appendFileSync(transcript, notice)
    await hook('SessionEnd')
    const after = readFileSync(transcript, 'utf8')
    expect(after.startsWith(before + notice)).toBe(true)
    expect(after).toContain('"isCompactSummary":true')
    expect(existsSync(join(data, 'at-end'))).toBe(false)

    expect((await ask('everlong:undo')).reason).toContain('will be taken back')
    await hook('SessionEnd')
    const lines = readFileSync(transcript, 'utf8').trimEnd().split('\n')
    const [undone, leaf] = lines.slice(-2).map((line) => JSON.parse(line))
    const end = conversation().records.at(-1)
    expect(undone).toMatchObject({ type: 'system', subtype: 'informational', parentUuid: end?.uuid })
    expect(leaf).toMatchObject({ type: 'last-prompt', leafUuid: undone.uuid })
  })

  test("compact: words that Claude Code puts into the agent's mouth are no conversation", async () => {
    await ask('everlong:compact')
    const [record = {}] = session().assistant('No response requested.', { uuid: 'later' }).records
    const { message } = record as { readonly message?: object }
    appendFileSync(transcript, serialize({ ...record, message: { ...message, model: '<synthetic>' } }))
    await hook('SessionEnd')
    expect(readFileSync(transcript, 'utf8')).toContain('"isCompactSummary":true')
  })

  test('compact: nothing is appended if the conversation continues', async () => {
    await ask('everlong:compact')
    appendFileSync(transcript, serialize(session().user('One more thing.', { uuid: 'later' }).records[0] ?? {}))
    const before = readFileSync(transcript, 'utf8')
    await hook('SessionEnd')
    expect(readFileSync(transcript, 'utf8')).toBe(before)
  })

  test('undo: not without a compaction, and not once the conversation continued', async () => {
    expect((await ask('everlong:undo')).reason).toMatch(/\n\nThis session was not compacted yet\.$/)
    write(conversation().boundary({ uuid: 'b1' }).summary(summary).assistant('On it.').records)
    expect((await ask('everlong:undo')).reason).toContain('went on')
  })

  test('commands of others pass', async () => {
    expect(await ask('review')).toEqual({})
  })
})

describe('long tool results', () => {
  afterEach(() => vi.unstubAllEnvs())
  const output = `start ${'x'.repeat(5_000)} heliotrope ${'y'.repeat(5_000)} end`
  const result = (stdout: string) => ({
    ...{ tool_name: 'Bash', tool_use_id: 'toolu_1', tool_input: { command: 'cat log' } },
    tool_response: { stdout, stderr: '', interrupted: false, isImage: false },
  })
  const ask = async (stdout = output, more: object = {}) => {
    return JSON.parse((await hook('PostToolUse', { ...result(stdout), ...more })) ?? '{}').hookSpecificOutput
      ?.updatedToolOutput
  }

  test('stay as they are unless it was asked for', async () => {
    expect(await ask()).toBeUndefined()
    vi.stubEnv('CLAUDE_PLUGIN_OPTION_SHORTEN_RESULTS', '0')
    expect(await ask()).toBeUndefined()
  })

  test('are stored whole and shortened in the shape of their tool; recall finds and reads the original', async () => {
    vi.stubEnv('CLAUDE_PLUGIN_OPTION_SHORTEN_RESULTS', '4000')
    const short = await ask()
    const path = join(folder, 's1/tool-results/toolu_1.txt')
    expect(readFileSync(path, 'utf8')).toBe(output)
    expect(short).toEqual({
      stdout: expect.stringMatching(/^start x+\n\[… 8\d+ characters.*\]\ny+ end$/),
      stderr: '',
      interrupted: false,
      isImage: false,
    })
    expect(short.stdout).toContain(path)
    expect(short.stdout.length).toBeLessThan(2_500)

    const { records } = session()
      .user('Look.')
      .toolUse('toolu_1', 'Bash', { command: 'cat log' })
      .toolResult('toolu_1', short.stdout)
    write(records)
    vi.stubEnv('EVERLONG_CACHE_DIR', join(folder, 'cache'))
    const archive = openArchive(folder)
    try {
      expect(archive.search({ words: 'heliotrope' }).matches.map(({ id }) => id)).toEqual(['toolu_1'])
      expect(archive.read('toolu_1')?.text).toBe(output)
    } finally {
      archive.close()
    }
  })

  test.each<[string, string, object]>([
    ['short ones', 'short', {}],
    ['our own', output, { tool_name: 'mcp__plugin_everlong_everlong__read' }],
    ['pictures', output, { tool_response: { stdout: output, isImage: true } }],
    ['blocks that are no text', '', { tool_response: [{ type: 'image', source: { data: output } }] }],
    ['results without an id', output, { tool_use_id: undefined }],
    ['what UTF-8 cannot hold', `${output}\ud800`, {}],
  ])('%s stay as they are', async (_, stdout, more) => {
    vi.stubEnv('EVERLONG_SHORTEN_RESULTS', '4000')
    expect(await ask(stdout, more)).toBeUndefined()
  })

  test('what cannot be stored is not shortened', async () => {
    vi.stubEnv('EVERLONG_SHORTEN_RESULTS', '4000')
    writeFileSync(join(folder, 's1'), 'in the way')
    await expect(ask()).rejects.toThrow('A long result was not shortened')
  })
})

test.each([
  ['no object', () => 'text'],
  ['a session that names a path', () => event('SessionStart', { session_id: '../../x' })],
  ['an unknown event', () => event('Other')],
])('%s prints nothing', async (_, input) => {
  expect(await onHook(input(), data)).toBeUndefined()
})

test('a missing transcript is an error that names it', async () => {
  const gone = join(folder, 'gone.jsonl')
  await expect(hook('SessionStart', { transcript_path: gone })).rejects.toThrow(gone)
})

test('the transcripts of a project are where Claude Code keeps them', () => {
  expect(projectFolder('/home/me/my.app', { HOME: '/home/me' })).toBe('/home/me/.claude/projects/-home-me-my-app')
  expect(projectFolder('/a', { CLAUDE_CONFIG_DIR: '/c' })).toBe('/c/projects/-a')
  expect(sessionName('a/b')).toBeUndefined()
})

import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { exitCodes, sessionsFolder } from '@everlong/agent/host'
import {
  asksForNotes,
  asksForSummary,
  fixed,
  noteTaker,
  type RunningServer,
  route,
  type Script,
  type ScriptRequest,
  startServer,
  summarizer,
  text,
  toolUse,
} from '@everlong/simulator'
import { offline } from 'everlong'
import { textOf } from 'everlong/internal'
import { fsck } from 'everlong/internal/node'
import { createEngine } from 'everlong/node'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { everlong, type RunOptions, root } from '../testing/harness.ts'

const folders: string[] = []
const servers: RunningServer[] = []
afterEach(async () => {
  for (const server of servers.splice(0)) await server.close()
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

type World = {
  readonly folder: string
  readonly home: string
  readonly url: string
  /** What the model was sent in turns. */
  readonly seen: ScriptRequest[]
  readonly run: (words: readonly string[], options?: RunOptions) => ReturnType<typeof everlong>
}

async function world(script: Script, summaries: Script = summarizer()): Promise<World> {
  const base = mkdtempSync(join(tmpdir(), 'everlong-cli-agent-'))
  folders.push(base)
  const [folder, home] = [join(base, 'project'), join(base, 'home')]
  mkdirSync(folder)
  const seen: ScriptRequest[] = []
  const watched: Script = (request, context) => {
    seen.push(request)
    return script(request, context)
  }
  const rules = [
    { when: asksForNotes, script: noteTaker() },
    { when: asksForSummary, script: summaries },
  ]
  const server = await startServer({ script: route(rules, watched) })
  servers.push(server)
  const run: World['run'] = (words, options = {}) =>
    everlong(['agent', folder, '--model', `anthropic:claude-opus-4-5@${server.url}`, ...words], {
      ...options,
      env: { EVERLONG_HOME: home, ...options.env },
    })
  return { folder, home, url: server.url, seen, run }
}

describe('everlong agent -p', () => {
  test('prints the answer and nothing else', async () => {
    const { run } = await world(() => text('It is 5.\nQuite sure.'))
    expect(await run(['-p', 'What is 2 + 3?'])).toEqual({ exitCode: 0, stdout: 'It is 5.\nQuite sure.\n', stderr: '' })
  })

  test('adds what is piped in to the prompt, or takes it as the prompt', async () => {
    const { run, seen } = await world(() => text('Read.'))
    await run(['-p', 'Sum this up:'], { stdin: 'a long text' })
    await run(['-p'], { stdin: 'only this' })
    const asked = seen.map(({ messages }) =>
      textOf(messages.at(-1)?.content ?? '')
        .split('</system-reminder>\n')
        .at(-1),
    )
    expect(asked).toEqual(['Sum this up:\n\na long text', 'only this'])
    expect(await run(['-p'])).toEqual({
      exitCode: exitCodes.usage,
      stdout: '',
      stderr: 'everlong: There is no prompt. Give one: everlong agent -p "PROMPT".\n',
    })
  })

  test('reports as JSON what happened, what it cost and where to continue', async () => {
    const { run, home, folder } = await world(() => text('Done.'))
    const { stdout } = await run(['-p', 'Go.', '--output', 'json'])
    const [file = ''] = readdirSync(sessionsFolder(home, folder)).filter((name) => name.endsWith('.jsonl'))
    expect(JSON.parse(stdout)).toEqual({
      type: 'result',
      exitCode: 0,
      reason: 'finished',
      result: 'Done.',
      sessionId: file.replace('.jsonl', ''),
      model: expect.stringContaining('anthropic:claude-opus-4-5@'),
      turns: 1,
      durationMs: 0,
      cost: expect.any(Number),
      compactions: [],
      denied: [],
    })
  })

  test('streams events as JSON lines, the result last', async () => {
    const { run, folder } = await world(fixed([toolUse('Read', { file_path: 'a.txt' }, 'toolu_1'), text('Read it.')]))
    writeFileSync(join(folder, 'a.txt'), 'hello\n')
    const { stdout } = await run(['-p', 'Read it.', '--output', 'stream-json'])
    const lines = stdout.trim().split('\n')
    const events = lines.map((line) => JSON.parse(line) as { readonly type: string })
    const types = events.map(({ type }) => type).filter((type) => type !== 'engine')
    expect(types).toEqual(['prompt', 'answer', 'tool-started', 'tool-finished', 'answer', 'stopped', 'result'])
    expect(events.find(({ type }) => type === 'tool-finished')).toMatchObject({ isError: false })
  })

  test('continues the newest session, or one by its id, or a copy', async () => {
    const { run, seen, home, folder } = await world(() => text('Noted.'))
    await run(['-p', 'The word is marzipan.'])
    await run(['-p', 'Which word?', '--continue'])
    expect(JSON.stringify(seen.at(-1)?.messages)).toContain('marzipan')
    const [file = ''] = readdirSync(sessionsFolder(home, folder)).filter((name) => name.endsWith('.jsonl'))
    await run(['-p', 'And now?', '--resume', file.slice(0, 8)])
    expect(seen.at(-1)?.messages.length).toBeGreaterThan(4)
    await run(['-p', 'In a copy.', '--resume', file.slice(0, 8), '--fork'])
    expect(readdirSync(sessionsFolder(home, folder)).filter((name) => name.endsWith('.jsonl'))).toHaveLength(2)
    expect(await run(['-p', 'x', '--resume', 'ffffffff-0'])).toMatchObject({
      exitCode: exitCodes.usage,
      stderr: expect.stringContaining('There is no session ffffffff-0 in this project.'),
    })
  })

  test('leaves a session alone that another process works in; a copy of it can be continued', async () => {
    const { run, folder, home } = await world(() => text('Noted.'))
    await run(['-p', 'The word is marzipan.'])
    const [name = ''] = readdirSync(sessionsFolder(home, folder)).filter((each) => each.endsWith('.jsonl'))
    const held = await createEngine({ model: offline(), environment: {} }).open(
      join(sessionsFolder(home, folder), name),
    )
    try {
      const { exitCode, stderr } = await run(['-p', 'Hi', '--continue'])
      expect([exitCode, stderr]).toEqual([
        exitCodes.usage,
        expect.stringMatching(/is (being )?(held|written|used|in use)/),
      ])
      expect(await run(['-p', 'Hi', '--continue', '--fork'])).toMatchObject({ exitCode: 0, stdout: 'Noted.\n' })
    } finally {
      await held.close()
    }
  })

  test('runs a slash command as a prompt', async () => {
    const { run } = await world(() => text('Noted.'))
    await run(['-p', 'Remember this.'])
    expect(await run(['-p', '/context', '--continue'])).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/^[\d,]+ tokens .* % left of [\d,]+\n/),
    })
    expect(await run(['-p', '/rewind nonsense', '--continue'])).toMatchObject({ exitCode: exitCodes.failed })
  })

  test('does not send a misspelled command to the model, but does send a path', async () => {
    const { run, seen } = await world(() => text('A file.'))
    const { exitCode, stdout, stderr } = await run(['-p', '/contxt'])
    expect([exitCode, seen.length]).toEqual([exitCodes.failed, 0])
    expect([stdout, stderr]).toEqual([
      '',
      expect.stringMatching(/^everlong: There is no command \/contxt\. Did you mean.*\n$/),
    ])
    const json = await run(['-p', '/contxt', '--output', 'json'])
    expect(JSON.parse(json.stdout)).toMatchObject({ reason: 'failed', problem: expect.stringContaining('/contxt') })
    expect(await run(['-p', '/etc/hosts is what?'])).toMatchObject({ exitCode: 0, stdout: 'A file.\n' })
  })
})

describe('exit codes', () => {
  const write = () => fixed([toolUse('Write', { file_path: 'new.txt', content: 'x' }), text('Could not.')])

  test('3: something was denied because nobody could be asked', async () => {
    const { run, folder } = await world(write())
    expect(await run(['-p', 'Write a file.'])).toEqual({
      exitCode: exitCodes.denied,
      stdout: 'Could not.\n',
      stderr: `everlong: Denied: Create new.txt (--allow 'Edit(/new.txt)' allows it)\n`,
    })
    expect(existsSync(join(folder, 'new.txt'))).toBe(false)
  })

  test('3: what was denied twice is listed once', async () => {
    const again = toolUse('Write', { file_path: 'new.txt', content: 'x' })
    const { run } = await world(fixed([again, again, text('Could not.')]))
    expect(await run(['-p', 'Write a file.'])).toMatchObject({
      stderr: `everlong: Denied: Create new.txt (--allow 'Edit(/new.txt)' allows it)\n`,
    })
  })

  test.each([
    ['a mode', ['--permission-mode', 'accept-edits']],
    ['a rule', ['--allow', 'Edit(new.txt)']],
  ])('0: %s allowed it', async (_, words) => {
    const { run, folder } = await world(write())
    expect(await run(['-p', 'Write a file.', ...words])).toMatchObject({ exitCode: exitCodes.finished, stderr: '' })
    expect(readFileSync(join(folder, 'new.txt'), 'utf8')).toBe('x')
  })

  test('4: the turn limit', async () => {
    const { run } = await world(() => toolUse('Glob', { pattern: '*' }))
    expect(await run(['-p', 'Search.', '--max-turns', '3'])).toMatchObject({
      exitCode: exitCodes['turn-limit'],
      stderr: 'everlong: Stopped at the turn limit. Continue with --continue.\n',
    })
  })

  test('1: the provider cannot be reached, and the settings want no retry', async () => {
    const { home, folder } = await world(() => text('x'))
    mkdirSync(home)
    writeFileSync(join(home, 'settings.json'), JSON.stringify({ retry: { minutes: 0 } }))
    const { exitCode, stderr } = await everlong(
      ['agent', folder, '-p', 'Hi', '--model', 'openai:none@http://127.0.0.1:1/v1', '--output', 'text'],
      { env: { EVERLONG_HOME: home } },
    )
    expect([exitCode, stderr]).toEqual([
      exitCodes.failed,
      expect.stringMatching(/^everlong: No answer: Connection error: fetch failed/),
    ])
  }, 60_000)

  test('130: interrupted', async () => {
    const { run } = await world(fixed([toolUse('Bash', { command: 'sleep 30' }), text('x')]))
    const { exitCode } = await run(['-p', 'Wait.', '--permission-mode', 'allow', '--output', 'stream-json'], {
      stopsWhen: (stdout) => stdout.includes('tool-started'),
    })
    expect(exitCode).toBe(exitCodes.interrupted)
  })

  test('2: without a model, with what to do about it', async () => {
    const { home, folder } = await world(() => text('x'))
    const { exitCode, stderr } = await everlong(['agent', folder, '-p', 'Hi'], { env: { EVERLONG_HOME: home } })
    expect(exitCode).toBe(exitCodes.usage)
    expect(stderr).toContain('everlong: Set a key:')
    expect(stderr).toContain('everlong agent --model demo')
  })

  test('2: without a model, with plain lines as well', async () => {
    const { home, folder } = await world(() => text('x'))
    const { exitCode, stdout } = await everlong(['agent', folder, '--plain'], { env: { EVERLONG_HOME: home } })
    expect(exitCode).toBe(exitCodes.usage)
    expect(stdout).toContain('everlong agent --model demo')
  })

  test.each([
    ['a folder that is not there', ['--model', 'demo', '-p', 'x'], 'nowhere', /nowhere is not a folder/],
    ['a wrong rule', ['--model', 'demo', '-p', 'x', '--allow', 'Bash('], '.', /--allow "Bash\(": expected a tool/],
    [
      'a wrong mode',
      ['-p', 'x', '--permission-mode', 'yolo'],
      '.',
      /Allowed choices are ask, accept-edits, plan, allow/,
    ],
    ['no session to continue', ['--model', 'demo', '-p', 'x', '--continue'], '.', /There is no session to continue/],
  ])('2: %s', async (_, words, folder, message) => {
    const { home } = await world(() => text('x'))
    const { exitCode, stderr } = await everlong(['agent', folder, ...words], { env: { EVERLONG_HOME: home } })
    expect([exitCode, message.test(stderr)]).toEqual([exitCodes.usage, true])
  })

  test('2: a mistake in the settings, with its place; nothing is run', async () => {
    const { run, folder, seen } = await world(() => text('x'))
    mkdirSync(join(folder, '.everlong'))
    writeFileSync(join(folder, '.everlong/settings.json'), '{ "permissions": { "mode": "all" } }')
    const { exitCode, stderr } = await run(['-p', 'Hi'])
    expect([exitCode, seen.length]).toEqual([exitCodes.usage, 0])
    expect(stderr).toContain('.everlong/settings.json: permissions.mode: invalid option')
  })
})

test('settings of a folder that is not trusted are not used, and --trust uses them from then on', async () => {
  const { run, folder } = await world(() => text('Hello.'))
  mkdirSync(join(folder, '.everlong'))
  const hooks = { UserPromptSubmit: [{ hooks: [{ type: 'command', command: 'touch ran.txt' }] }] }
  writeFileSync(join(folder, '.everlong/settings.json'), JSON.stringify({ hooks }))
  const first = await run(['-p', 'Hi'])
  expect([first.stderr, existsSync(join(folder, 'ran.txt'))]).toEqual([
    expect.stringContaining('Not used, because this folder is not trusted: hook UserPromptSubmit: touch ran.txt.'),
    false,
  ])
  await run(['-p', 'Hi', '--trust'])
  expect(existsSync(join(folder, 'ran.txt'))).toBe(true)
  rmSync(join(folder, 'ran.txt'))
  expect((await run(['-p', 'Hi'])).stderr).toBe('')
  expect(existsSync(join(folder, 'ran.txt'))).toBe(true)
})

test('a hook that comes into a trusted folder later does not run, and those that were trusted do', async () => {
  const { run, folder } = await world(() => text('Hello.'))
  mkdirSync(join(folder, '.everlong'))
  const write = (...files: readonly string[]) => {
    const hooks = files.map((file) => ({ type: 'command', command: `touch ${file}` }))
    writeFileSync(join(folder, '.everlong/settings.json'), JSON.stringify({ hooks: { UserPromptSubmit: [{ hooks }] } }))
  }
  const ran = () => readdirSync(folder).filter((name) => name.endsWith('.txt'))
  write('old.txt')
  await run(['-p', 'Hi', '--trust'])
  rmSync(join(folder, 'old.txt'))
  write('old.txt', 'new.txt')
  const { stderr } = await run(['-p', 'Hi'])
  expect([stderr, ran()]).toEqual([
    'everlong: Not used, because this folder is not trusted: hook UserPromptSubmit: touch new.txt. Start with --trust to use them.\n',
    ['old.txt'],
  ])
  await run(['-p', 'Hi', '--trust'])
  expect([(await run(['-p', 'Hi'])).stderr, ran()]).toEqual(['', ['new.txt', 'old.txt']])
})

/** A real process; returns how to kill it and wait for its end. */
function start({ folder, home, url }: World, words: readonly string[]) {
  const args = [join(root, 'cli/src/main.ts'), 'agent', folder, '--model', `anthropic:claude-opus-4-5@${url}`, ...words]
  const env = { ...process.env, EVERLONG_HOME: home }
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  return async () => {
    child.kill('SIGKILL')
    await ended
  }
}

function transcriptOf({ folder, home }: World): string {
  const sessions = sessionsFolder(home, folder)
  const names = existsSync(sessions) ? readdirSync(sessions).filter((name) => name.endsWith('.jsonl')) : []
  return join(sessions, names[0] ?? 'none')
}

const patiently = { timeout: 60_000, interval: 20 }

describe('after kill -9', () => {
  test('during a tool call, the session continues and the model hears that the call has no result', async () => {
    const call = toolUse('Bash', { command: 'touch begun.txt; sleep 4' }, 'toolu_killed')
    const set = await world((request) => (JSON.stringify(request.messages).includes('Go on.') ? text('On it.') : call))
    const kill = start(set, ['-p', 'Run it. Never touch the tests.', '--permission-mode', 'allow'])
    await vi.waitUntil(() => existsSync(join(set.folder, 'begun.txt')), patiently)
    await kill()
    expect(await set.run(['-p', 'Go on.', '--continue'])).toEqual({ exitCode: 0, stdout: 'On it.\n', stderr: '' })
    const last = JSON.stringify(set.seen.at(-1)?.messages)
    expect([last.includes('Never touch the tests.'), last.includes('"tool_use_id":"toolu_killed"')]).toEqual([
      true,
      true,
    ])
    const errors = fsck(transcriptOf(set)).findings.filter(({ severity }) => severity === 'error')
    expect(errors).toEqual([])
  }, 90_000)

  test('during a compaction, the conversation is as it was, and compacts the next time', async () => {
    let isAsked = false
    const hanging: Script = (request, context) => {
      if (isAsked) return summarizer()(request, context)
      isAsked = true
      return new Promise(() => undefined)
    }
    const set = await world(() => text('A long answer. '.repeat(400)), hanging)
    await set.run(['-p', 'Never touch the tests.'])
    await set.run(['-p', 'Look at the parser.', '--continue'])
    const before = readFileSync(transcriptOf(set))
    const kill = start(set, ['-p', '/compact', '--continue'])
    await vi.waitUntil(() => isAsked, patiently)
    await kill()
    expect(readFileSync(transcriptOf(set)).subarray(0, before.length).equals(before)).toBe(true)
    await set.run(['-p', 'What were the rules?', '--continue'])
    const words = JSON.stringify(set.seen.at(-1)?.messages)
    expect([words.includes('Never touch the tests.'), words.includes('Look at the parser.')]).toEqual([true, true])
    expect(await set.run(['-p', '/compact', '--continue'])).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/^Compacted /),
    })
  }, 90_000)
})

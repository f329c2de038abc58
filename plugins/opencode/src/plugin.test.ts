import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import type { PluginInput, SessionInfo, SessionMessage } from './opencode-api.ts'
import { Everlong } from './plugin.ts'
import { assistant, compaction, session, summary, user } from './testing.ts'

const rule = 'From now on never touch the file schema.sql.'
const wish = 'Rename the column total to amount in every report.'
const talk = [
  user('u1', `Read the reports first. ${rule}`),
  assistant('a1', [{ type: 'text', text: 'I have read them.' }]),
  user('u2', wish),
  assistant('a2', [{ type: 'text', text: 'Renamed.' }]),
]

let home: string
let logged: string[]
let toasts: string[]
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'everlong-opencode-'))
  logged = []
  toasts = []
  for (const name of ['XDG_DATA_HOME', 'XDG_CONFIG_HOME', 'OPENCODE_CONFIG_DIR']) vi.stubEnv(name, undefined)
  vi.stubEnv('HOME', home)
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(home, { recursive: true, force: true })
})

type Sessions = Readonly<Record<string, readonly SessionMessage[]>>

/** opencode's side, with sessions in memory. */
function host(sessions: Sessions, more: Partial<SessionInfo> = {}): PluginInput {
  const infos = Object.keys(sessions).map((id, at) => {
    return { id, projectID: 'p1', directory: '/home/me/app', time: { updated: 1_794_804_000_000 + at }, ...more }
  })
  return {
    directory: '/home/me/app',
    worktree: '/home/me/app',
    project: { id: 'p1' },
    client: {
      session: {
        list: async () => ({ data: infos }),
        messages: async ({ path }) => ({ data: sessions[path.id] }),
      },
      tui: { showToast: async ({ body }) => toasts.push(body.message) },
      app: { log: async ({ body }) => logged.push(body.message) },
    },
  }
}

async function completed(messages: readonly SessionMessage[], text: string): Promise<string> {
  const hooks = await Everlong(host({ [session]: messages }))
  await hooks['experimental.session.compacting']({ sessionID: session }, { context: [] })
  const output = { text }
  await hooks['experimental.text.complete']({ sessionID: session, messageID: 's1' }, output)
  return output.text
}

test('the summary is asked to keep what matters', async () => {
  const hooks = await Everlong(host({}))
  const output = { context: ['of another plug-in'] }
  await hooks['experimental.session.compacting']({ sessionID: session }, output)
  expect(output.context).toEqual(['of another plug-in', expect.stringContaining('word for word')])
})

test('the person is told in one line how much was given back, and nothing where nothing was', async () => {
  const messages = [...talk, compaction('x1'), summary('s1', '')]
  const text = await completed(messages, 'The user approved the release.')
  const items = text.match(/^- /gm)?.length ?? 0
  expect(toasts).toEqual([`Everlong gave back ${items - 1} facts; 1 doubtful claim: see the end of the summary`])
  toasts = []
  await completed(
    [user('u1', 'Hi.'), assistant('a1', [{ type: 'text', text: 'Hello.' }]), summary('s1', '')],
    '"Hi." Hello.',
  )
  expect(toasts).toEqual([])
})

test('what was lost is given back also where it cannot be announced', async () => {
  const input = host({ [session]: [...talk, compaction('x1'), summary('s1', '')] })
  const showToast = async () => {
    throw new Error('There is no screen.')
  }
  const hooks = await Everlong({ ...input, client: { ...input.client, tui: { showToast } } })
  await hooks['experimental.session.compacting']({ sessionID: session }, { context: [] })
  const output = { text: 'The reports were read.' }
  await hooks['experimental.text.complete']({ sessionID: session, messageID: 's1' }, output)
  expect([output.text.includes(rule), logged]).toEqual([true, ['everlong: There is no screen.']])
})

test('what a summary lost is written behind it', async () => {
  const text = await completed([...talk, compaction('x1'), summary('s1', '')], 'The reports were read.')
  expect(text).toMatch(/^The reports were read\.\n\n---\nThe summary above leaves out what follows/)
  expect(text).toContain(rule)
  expect(text).toContain(wish)
})

test('only one text after a compaction is the summary', async () => {
  const hooks = await Everlong(host({ [session]: [...talk, compaction('x1'), summary('s1', '')] }))
  await hooks['experimental.session.compacting']({ sessionID: session }, { context: [] })
  const [first, second] = [{ text: 'The reports were read.' }, { text: 'The reports were read.' }]
  await hooks['experimental.text.complete']({ sessionID: session, messageID: 's1' }, first)
  await hooks['experimental.text.complete']({ sessionID: session, messageID: 's1' }, second)
  expect([first.text.includes(rule), second.text]).toEqual([true, 'The reports were read.'])
})

test('an answer that is no summary stays as it is, and costs nothing', async () => {
  expect(await completed([...talk, assistant('s1', [])], 'Done.')).toBe('Done.')
  let calls = 0
  const input = host({ [session]: talk })
  const { client } = input
  const counting = { ...client.session, messages: async () => ({ data: [], calls: ++calls }) }
  const hooks = await Everlong({ ...input, client: { ...client, session: counting } })
  const output = { text: 'Done.' }
  await hooks['experimental.text.complete']({ sessionID: session, messageID: 'a9' }, output)
  expect([output.text, calls]).toEqual(['Done.', 0])
})

test('whatever fails is logged, and the session continues', async () => {
  const input = host({})
  const broken = async () => Promise.reject(new Error('the database is locked'))
  const { client } = input
  const hooks = await Everlong({ ...input, client: { ...client, session: { list: broken, messages: broken } } })
  await hooks['experimental.session.compacting']({ sessionID: session }, { context: [] })
  const output = { text: 'A summary.' }
  await hooks['experimental.text.complete']({ sessionID: session, messageID: 's1' }, output)
  expect([output.text, logged]).toEqual(['A summary.', ['everlong: the database is locked']])
  expect(await hooks.tool.recall?.execute({ query: 'x' })).toMatch(/cannot be read\. .*the database is locked/)
})

test('recall finds what was said in all sessions of the project, and nothing of other projects', async () => {
  const hooks = await Everlong(host({ [session]: talk, ses_2: [user('u9', 'The heron nests in April.')] }))
  expect(await hooks.tool.recall?.execute({ query: 'heron' })).toContain('The heron nests in April.')
  expect(await hooks.tool.recall?.execute({ query: 'column' })).toContain(wish)
  expect(await hooks.tool.recall?.execute({ read: 'u2' })).toContain(wish)
  await hooks.dispose()
  const elsewhere = await Everlong({ ...host({ [session]: talk }, { projectID: 'p2' }), worktree: '/home/me/other' })
  expect(await elsewhere.tool.recall?.execute({ query: 'column' })).toContain('Nothing found.')
  await elsewhere.dispose()
})

test('a session that continued is read again, and one that did not is not', async () => {
  const said = { ses_1: [user('u1', 'The heron nests in April.')], ses_2: [user('u2', 'The stork nests in May.')] }
  let more: SessionMessage[] = []
  let updated = 0
  const asked: string[] = []
  const input = host(said)
  const session: PluginInput['client']['session'] = {
    list: async () => {
      const { data = [] } = await input.client.session.list()
      return {
        data: data.map((each) =>
          each.id === 'ses_1' ? { ...each, time: { updated: 1_794_805_000_000 + updated } } : each,
        ),
      }
    },
    messages: async (given) => {
      asked.push(given.path.id)
      const { data = [] } = await input.client.session.messages(given)
      return { data: given.path.id === 'ses_1' ? [...data, ...more] : data }
    },
  }
  const hooks = await Everlong({ ...input, client: { ...input.client, session } })
  expect(await hooks.tool.recall?.execute({ query: 'pelican' })).toContain('Nothing found.')
  more = [user('u3', 'The pelican nests in June.')]
  updated = 60_000
  expect(await hooks.tool.recall?.execute({ query: 'pelican' })).toContain('The pelican nests in June.')
  expect(asked).toEqual(['ses_1', 'ses_2', 'ses_1'])
  await hooks.dispose()
})

test('when reading the sessions takes too long, recall searches the newest, says so, and has the rest the next time', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const bird = (name: string) => [user(`u-${name}`, `The ${name} nests in April.`)]
  const input = host({ ses_1: bird('heron'), ses_2: bird('stork'), ses_3: bird('crane') })
  const { messages } = input.client.session
  const slow: typeof messages = async (asked) => {
    vi.advanceTimersByTime(6_000)
    return messages(asked)
  }
  const session = { ...input.client.session, messages: slow }
  const hooks = await Everlong({ ...input, client: { ...input.client, session } })
  const first = await hooks.tool.recall?.execute({ query: 'nests' })
  expect(first).toMatch(/^Not all sessions of the project have been read yet: ask again for the rest\.\n/)
  expect(['heron', 'stork', 'crane'].filter((name) => first?.includes(name))).toEqual(['stork', 'crane'])
  const second = await hooks.tool.recall?.execute({ query: 'nests' })
  expect(second).not.toContain('Not all sessions')
  expect(second).toContain('heron')
  await hooks.dispose()
})

test('outside of repositories a project is its folder', async () => {
  const input = { ...host({ [session]: talk }, { projectID: 'global' }), project: { id: 'global' }, worktree: '/' }
  const found = async (directory: string) => {
    const hooks = await Everlong({ ...input, directory })
    const text = await hooks.tool.recall?.execute({ query: 'column' })
    await hooks.dispose()
    return text?.includes(wish)
  }
  expect([await found('/home/me/app'), await found('/home/me'), await found('/home/me/other')]).toEqual([
    true,
    true,
    false,
  ])
})

test('a session that is deleted is forgotten', async () => {
  const hooks = await Everlong(host({ [session]: talk }))
  await hooks.tool.recall?.execute({ query: 'column' })
  const copy = join(home, '.local/share/everlong/opencode/-home-me-app', `${session}.jsonl`)
  expect(existsSync(copy)).toBe(true)
  await hooks.event({ event: { type: 'session.deleted', properties: { info: { id: session } } } })
  expect(existsSync(copy)).toBe(false)
  await hooks.dispose()
})

const long = { output: Array.from({ length: 300 }, (_, at) => `line ${at} of it`).join('\n') }
const after = { tool: 'bash', sessionID: session, callID: 'call_1' }

test('large results stay as they are unless the user asks for it', async () => {
  const hooks = await Everlong(host({}))
  const result = { ...long }
  await hooks['tool.execute.after'](after, result)
  expect(result).toEqual(long)
})

test('large results are shortened once they are stored, and can be read in full', async () => {
  mkdirSync(join(home, '.config/opencode'), { recursive: true })
  writeFileSync(join(home, '.config/opencode/everlong.json'), '{ "largeResults": 2000 }')
  const messages = [...talk]
  const hooks = await Everlong(host({ [session]: messages }))
  const result = { ...long }
  await hooks['tool.execute.after'](after, result)
  const { output } = result
  expect(output).toMatch(/^line 0 of it\n[\s\S]+\n\[… \d+ characters left out\. .*call_1.*\]\n[\s\S]+line 299 of it$/)
  expect(output.length).toBeLessThan(2_000)
  // opencode stores what it sends.
  const state = { status: 'completed', input: {}, output }
  messages.push(assistant('a3', [{ type: 'tool', callID: 'call_1', tool: 'bash', state }]))
  expect(await hooks.tool.recall?.execute({ read: 'call_1' })).toContain('line 150 of it')
  await hooks.dispose()
})

test('a result that cannot be stored stays whole', async () => {
  const hooks = await Everlong(host({}), { largeResults: 2_000 })
  await hooks['tool.execute.after'](after, { ...long })
  const other = { output: long.output.toUpperCase() }
  await hooks['tool.execute.after'](after, other)
  expect(other.output).toBe(long.output.toUpperCase())
})

test('results of MCP servers stay as they are', async () => {
  const hooks = await Everlong(host({}), { largeResults: 2_000 })
  const result = { content: [{ type: 'text', text: long.output }] }
  await hooks['tool.execute.after'](after, result as { output?: string })
  expect(result).toEqual({ content: [{ type: 'text', text: long.output }] })
})

test('settings that cannot be read are named in the log, once', async () => {
  mkdirSync(join(home, '.config/opencode'), { recursive: true })
  writeFileSync(join(home, '.config/opencode/everlong.json'), '{ broken')
  const hooks = await Everlong(host({}))
  for (const result of [{ ...long }, { ...long }]) await hooks['tool.execute.after'](after, result)
  expect(logged).toEqual([expect.stringMatching(/^everlong: .*everlong\.json cannot be read\. /)])
})

test('a setting that makes no sense is logged and ignored', async () => {
  const hooks = await Everlong(host({}), { largeResults: 3 })
  const result = { ...long }
  await hooks['tool.execute.after'](after, result)
  expect([result, logged]).toEqual([long, ['everlong: largeResults is 3; the smallest value is 1000 characters.']])
})

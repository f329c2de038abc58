// What every slash command has in common: nothing to work on, no argument, a wrong argument, a running turn, a second time, and
// after /undo. What a command says must be what happened, so effects are compared and not only words.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fixed, text, toolUse } from '@everlong/simulator'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Agent, CommandResult } from '../app.ts'
import { listSessions } from '../sessions/sessions.ts'
import { type AgentStage, agentStages } from '../testing/agent-stage.ts'
import { fill } from '../testing/history.ts'
import { gate, until } from '../testing/over-http.ts'
import { defineTool } from '../tool.ts'
import { commandNamed, commands } from './run.ts'

const stage = agentStages()

/** What a command can change. */
type Effect = 'nothing' | 'conversation' | 'transcript' | 'session' | 'file' | 'mode' | 'name' | 'prompt' | 'leaves'

type Row = {
  /** A line that works after six rounds. FIRST and LAST are your messages, NEW a file that does not exist. */
  readonly line: string
  readonly effect: Effect
  /** What it says, or the type of its result. */
  readonly says: RegExp
  /** The second time, if it differs. */
  readonly again?: RegExp
  /** A wrong argument, and what is said to it. Commands without arguments refuse every argument. */
  readonly wrong?: readonly [string, RegExp]
  /** Without its argument. */
  readonly bare?: RegExp
  /** Whether /undo takes it back. */
  readonly isUndone?: true
}

const rows: Readonly<Record<string, Row>> = {
  compact: {
    ...{ line: '/compact', effect: 'conversation', says: /^text: Compacted / },
    ...{ again: /^error: Nothing was compacted: /, wrong: ['from nobody', /^error: .*nobody/], isUndone: true },
  },
  context: { line: '/context', effect: 'nothing', says: /^text: [\d,]+ tokens / },
  explain: { line: '/explain', effect: 'nothing', says: /^text: [\d,]+ tokens, / },
  cost: { line: '/cost', effect: 'nothing', says: /^text: / },
  undo: { line: '/undo', effect: 'nothing', says: /^text: There is nothing to undo\.$/ },
  rewind: {
    ...{ line: '/rewind LAST conversation', effect: 'conversation', says: /^edit: The conversation is as it was/ },
    ...{ wrong: ['LAST everything', /^error: everything /], bare: /^choose$/, isUndone: true },
  },
  snip: {
    ...{ line: '/snip FIRST', effect: 'conversation', says: /^text: Removed [\d,]+ tokens/, again: /^error: / },
    ...{ wrong: ['nobody', /^error: .*nobody/], bare: /^choose$/, isUndone: true },
  },
  pin: {
    ...{ line: '/pin FIRST', effect: 'transcript', says: /^text: Pinned\. \/unpin \S+ takes this back\.$/ },
    ...{ again: /^error: .* is pinned already\.$/, wrong: ['nobody', /^error: .*nobody/], bare: /^choose$/ },
  },
  unpin: {
    ...{ line: '/unpin FIRST', effect: 'nothing', says: /^error: .* is not pinned\.$/ },
    ...{ wrong: ['nobody', /^error: .*nobody/], bare: /^choose$/ },
  },
  recall: { line: '/recall parser', effect: 'nothing', says: /^text: /, bare: /^error: Say what/ },
  memory: { line: '/memory', effect: 'nothing', says: /^text: / },
  tasks: { line: '/tasks', effect: 'nothing', says: /^text: Nothing runs in the background/ },
  todos: { line: '/todos', effect: 'nothing', says: /^text: There is no list of steps\./ },
  init: { line: '/init briefly', effect: 'prompt', says: /^submit$/, bare: /^submit$/ },
  'add-dir': {
    ...{ line: '/add-dir ..', effect: 'nothing', says: /^error: There are no tools/ },
    ...{ wrong: ['nowhere', /^error: \S+nowhere is not a folder\.$/], bare: /^error: Say which folder/ },
  },
  export: {
    line: '/export NEW',
    effect: 'file',
    says: /^text: Written: \S+ \(\d+ parts\)\.$/,
    again: /^error: .*already/,
  },
  model: {
    ...{ line: '/model', effect: 'nothing', says: /^choose$/, wrong: ['nonsense', /^error: /] },
  },
  permissions: {
    ...{ line: '/permissions plan', effect: 'mode', says: /^text: Mode plan: nothing is changed\.$/ },
    ...{ wrong: ['yolo', /^error: yolo is no mode/], bare: /^text: Mode (ask|plan)/ },
  },
  resume: {
    ...{ line: '/resume', effect: 'nothing', says: /^text: There is no other session/ },
    wrong: ['nobody', /^error: There is no session nobody/],
  },
  fork: { line: '/fork', effect: 'session', says: /^text: You are in a copy now: / },
  rename: {
    line: '/rename Parser work',
    effect: 'name',
    says: /is called Parser work now/,
    bare: /^error: Say the name/,
  },
  clear: { line: '/clear', effect: 'session', says: /^text: A new session/ },
  status: { line: '/status', effect: 'nothing', says: /^text: session / },
  config: {
    ...{
      line: '/config permissions.mode plan session',
      effect: 'mode',
      says: /^text: permissions\.mode is plan in this/,
    },
    ...{ wrong: ['permissions.mode yolo user', /^error: .*"ask"\|"accept-edits"/], bare: /^choose$/ },
  },
  mcp: { line: '/mcp', effect: 'nothing', says: /^text: No MCP servers/ },
  skills: { line: '/skills', effect: 'nothing', says: /^text: None\./ },
  hooks: { line: '/hooks', effect: 'nothing', says: /^text: No hooks/ },
  help: { line: '/help', effect: 'nothing', says: /^text: \/compact/ },
  quit: { line: '/quit', effect: 'leaves', says: /^quit$/ },
}

const table = commands.map(({ name }) => [name, rows[name] ?? missing(name)] as const)

function missing(name: string): Row {
  throw new Error(`/${name} has no row here.`)
}

test('every row is a command', () => {
  expect(Object.keys(rows).toSorted()).toEqual(commands.map(({ name }) => name).toSorted())
})

async function spoken(set: AgentStage): Promise<AgentStage> {
  fill(set.agent.session(), { rounds: 6, tokens: 800 })
  await set.agent.session().stored()
  return set
}

const answering = async () => spoken(await stage({ script: () => text('Here you are.') }))

/** A line with ids and paths in place of its words in capitals. */
async function lineFor(line: string, { agent, folder }: AgentStage): Promise<string> {
  const entries = [...(await agent.session().entries())]
  const mine = entries.filter(({ record }) => record.type === 'user' && JSON.stringify(record).includes('Question '))
  const id = (at: number) => String(mine.at(at)?.record.uuid ?? 'nobody')
  return line.replace('FIRST', id(1)).replace('LAST', id(-1)).replace('NEW', join(folder, 'new.md'))
}

async function run(agent: Agent, line: string): Promise<string> {
  return said(await agent.command(line))
}

function said(result: CommandResult): string {
  return 'text' in result ? `${result.type}: ${result.text}` : result.type
}

/** Everything that a command may change, apart from what the row names. */
function worldOf({ agent, folder, home }: AgentStage) {
  const { id, path } = agent.session()
  return {
    conversation: JSON.stringify(agent.session().messages()),
    transcript: path !== undefined && existsSync(path) ? readFileSync(path, 'utf8') : '',
    session: id,
    file: JSON.stringify(readdirSync(folder).toSorted()),
    mode: agent.state().mode,
    name: agent.state().title,
    model: agent.state().model,
    settings: readdirSync(home, { recursive: true }).filter((each) => String(each).endsWith('settings.json')).length,
  }
}

/** The parts of the world that each effect changes. */
const changes: Readonly<Record<Effect, readonly string[]>> = {
  ...{ nothing: [], prompt: [], leaves: [], mode: ['mode'], file: ['file'], transcript: ['transcript'] },
  ...{ conversation: ['conversation', 'transcript'], name: ['name'] },
  session: ['session'],
}

function changed(before: ReturnType<typeof worldOf>, after: ReturnType<typeof worldOf>): readonly string[] {
  const names = Object.keys(before) as (keyof typeof before)[]
  return names.filter((name) => before[name] !== after[name])
}

describe('a slash command', () => {
  test.for(table)('/%s does what it says, and nothing else', async ([, row]) => {
    const set = await answering()
    const line = await lineFor(row.line, set)
    const before = worldOf(set)
    expect(await run(set.agent, line)).toMatch(row.says)
    await set.agent.session().stored()
    const found = changed(before, worldOf(set))
    for (const part of changes[row.effect]) expect(found).toContain(part)
    // Another session has another conversation, transcript and name.
    if (row.effect !== 'session' && row.effect !== 'name') expect(found).toEqual(changes[row.effect])
  })

  test.for(table)('/%s a second time', async ([, row]) => {
    const set = await answering()
    const line = await lineFor(row.line, set)
    await run(set.agent, line)
    await set.agent.session().stored()
    const before = worldOf(set)
    expect(await run(set.agent, line)).toMatch(row.again ?? row.says)
    await set.agent.session().stored()
    if (row.again?.source.startsWith('^error')) expect(changed(before, worldOf(set))).toEqual([])
  })

  test.for(table.filter(([, { isUndone }]) => isUndone))(
    '/%s is taken back by /undo, and works again',
    async ([, row]) => {
      const set = await answering()
      const line = await lineFor(row.line, set)
      const before = worldOf(set).conversation
      await run(set.agent, line)
      const after = worldOf(set).conversation
      expect(await run(set.agent, '/undo')).toMatch(/^text: Undone: /)
      expect(worldOf(set).conversation).toBe(before)
      expect(await run(set.agent, line)).toMatch(row.says)
      expect(worldOf(set).conversation.length).toBe(after.length)
    },
  )

  test.for(table)('/%s with a wrong argument is an error, and changes nothing', async ([name, { wrong }]) => {
    const set = await answering()
    const [words, message] = wrong ?? ['of no meaning', new RegExp(`^error: /${name} takes no argument`)]
    if (wrong === undefined && commandNamed(`/${name}`)?.arguments !== undefined) return
    const before = worldOf(set)
    expect(await run(set.agent, await lineFor(`/${name} ${words}`, set))).toMatch(message)
    await set.agent.session().stored()
    expect(changed(before, worldOf(set))).toEqual([])
  })

  test.for(table.filter(([, { bare }]) => bare))(
    '/%s without its argument changes nothing',
    async ([name, { bare }]) => {
      const set = await answering()
      const before = worldOf(set)
      expect(await run(set.agent, `/${name}`)).toMatch(bare ?? /^$/)
      await set.agent.session().stored()
      expect(changed(before, worldOf(set))).toEqual([])
    },
  )

  test('in a session without a message fails with words, or says that there is nothing', async () => {
    const set = await stage({ script: () => text('Here you are.') })
    for (const [name, row] of table) {
      if (row.effect === 'leaves' || row.effect === 'session') continue
      const result = await run(set.agent, await lineFor(row.line, set))
      expect([name, result.includes('undefined'), /failed: /.test(result)]).toEqual([name, false, false])
    }
    expect(set.agent.session().messages()).toEqual([])
  })
})

describe('while a turn runs', () => {
  test('a command that changes the conversation waits for its end, and changes nothing; the others answer', async () => {
    const { opened, open } = gate()
    const wait = defineTool({
      ...{ name: 'Wait', description: 'Waits.', input: z.object({}) },
      run: () => opened.then(() => ''),
    })
    const script = fixed([toolUse('Wait'), text('Done.')])
    const set = await spoken(await stage({ script, tools: [wait] }))
    const turn = set.agent.submit({ text: 'Wait.' })
    await until(() => set.events.some(({ type }) => type === 'tool-started'))
    for (const [name, row] of table) {
      if (row.effect === 'leaves') continue
      const isQuiet = row.effect === 'conversation' || row.effect === 'session' || name === 'undo'
      const line = await lineFor(row.line, set)
      const before = worldOf(set)
      const result = await run(set.agent, line)
      const isRefused = result.startsWith(`error: /${name} has to wait: a turn is running`)
      if (isQuiet) expect([name, isRefused]).toEqual([name, true])
      if (isRefused) expect(changed(before, worldOf(set))).toEqual([])
      // What /pin has pinned is unpinned.
      else expect(result).toMatch(name === 'unpin' ? /^text: Unpinned\.$/ : row.says)
    }
    open()
    await turn
    expect(set.events.findLast(({ type }) => type === 'stopped')).toMatchObject({ why: 'finished' })
  })
})

test('every file and session that a command names is there', async () => {
  const set = await answering()
  mkdirSync(join(set.folder, 'sub'))
  writeFileSync(join(set.folder, 'sub', 'there.md'), 'precious')
  const [, path = ''] = /Written: (\S+) /.exec(await run(set.agent, '/export sub/new.md')) ?? []
  expect(readFileSync(path, 'utf8')).toMatch(/^## You\n\nQuestion 1: /)
  expect(await run(set.agent, '/export sub/there.md')).toMatch(/^error: /)
  expect(readFileSync(join(set.folder, 'sub', 'there.md'), 'utf8')).toBe('precious')
  const [, id = ''] = /copy now: (\S+)/.exec(await run(set.agent, '/fork')) ?? []
  expect(set.agent.session().id).toBe(id)
  const sessions = join(set.agent.session().path ?? '', '..')
  expect(listSessions(sessions).map((each) => each.id)).toContain(id)
})

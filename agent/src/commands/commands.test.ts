import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fixed, text, toolUse } from '@everlong/simulator'
import { offline } from 'everlong'
import { knownModels, messagesOf, textOf } from 'everlong/internal'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import type { Agent, AgentEvent } from '../app.ts'
import { originalOf, receiptLine } from '../receipt.ts'
import { subagentTool } from '../subagent-tool.ts'
import { agentStages } from '../testing/agent-stage.ts'
import { fill } from '../testing/history.ts'
import { gate, until } from '../testing/over-http.ts'
import { defineTool } from '../tool.ts'
import { status } from './about.ts'
import type { CommandContext } from './command.ts'
import { commands, usageOf } from './run.ts'
import { fork } from './sessions.ts'
import { model, permissions } from './setup.ts'

const stage = agentStages()
const answering = () => stage({ script: () => text('Here you are.') })

async function run(agent: Agent, line: string): Promise<string> {
  const result = await agent.command(line)
  return result.type === 'text' || result.type === 'error' ? `${result.type}: ${result.text}` : result.type
}

const size = (agent: Agent) => agent.session().messages().length
const lastHuman = async (agent: Agent) =>
  textOf(messagesOf([...(await agent.session().entries())]).findLast(({ origin }) => origin === 'human')?.content ?? '')

const beforeTheWrite = ['hooks-before', 'summarizing', 'verifying', 'restoring'] as const

/** Interrupts the first time that a compaction comes to this phase. */
function interruptAt(agent: Agent, phase: string): () => boolean {
  let isStopped = false
  agent.on((event: AgentEvent) => {
    if (event.type !== 'engine' || event.event.type !== 'compaction-progressed') return
    if (event.event.phase !== phase || isStopped) return
    isStopped = true
    agent.interrupt()
  })
  return () => isStopped
}

describe('/compact', () => {
  test('a second time, the original begins at the first compaction', async () => {
    const { agent, events } = await answering()
    for (const rounds of [6, 4]) {
      fill(agent.session(), { rounds, tokens: 800 })
      await run(agent, '/compact')
    }
    const uuids = events.flatMap((event) => (event.type === 'receipt' ? [event.receipt.uuid] : []))
    const originals = await Promise.all(uuids.map((uuid) => originalOf(agent.session(), uuid)))
    expect(originals.map((messages) => messages.filter(({ origin }) => origin === 'human').length)).toEqual([6, 4])
  })

  test('shrinks the conversation and gives a receipt with everything in it; /undo brings all of it back', async () => {
    const { agent, events } = await answering()
    await agent.submit({ text: 'Always answer in English.' })
    fill(agent.session(), { rounds: 6, tokens: 800 })
    const before = JSON.stringify(agent.session().messages())
    const line = await run(agent, '/compact keep the file names')
    const receipts = events.flatMap((event) => (event.type === 'receipt' ? [event.receipt] : []))
    const [receipt] = receipts
    if (!receipt) throw new Error('There is no receipt.')
    expect(receipts).toHaveLength(1)
    expect(line).toBe(`text: ${receiptLine(receipt)}`)
    expect(receipt).toMatchObject({
      trigger: 'manual',
      mechanism: 'cache-sharing',
      model: 'claude-opus-4-5',
      cost: expect.any(Number),
      instructions: 'keep the file names',
      summary: expect.stringContaining('Always answer in English.'),
    })
    expect(receipt.after).toBeLessThan(receipt.before)
    expect((await originalOf(agent.session(), receipt.uuid)).filter(({ origin }) => origin === 'human')).toHaveLength(7)
    const phases = events.flatMap((event) =>
      event.type === 'engine' && event.event.type === 'compaction-progressed' ? [event.event.phase] : [],
    )
    expect([...new Set(phases)]).toEqual([...beforeTheWrite, 'committing', 'hooks-after'])
    expect(await run(agent, '/undo')).toMatch(
      /^text: Undone: compaction\. The context has [\d,]+ tokens now\.\nThe next compaction waits until it has [\d,]+\.$/,
    )
    expect(JSON.stringify(agent.session().messages())).toBe(before)
  })

  test.each(beforeTheWrite)('stopped while %s leaves the conversation as it was', async (phase) => {
    const hooks = { PreCompact: [{ hooks: [{ type: 'command' as const, command: 'true' }] }] }
    const { agent } = await stage({ script: () => text('Yes.'), settings: { hooks } })
    fill(agent.session(), { rounds: 6, tokens: 800 })
    const before = JSON.stringify(agent.session().messages())
    const isStopped = interruptAt(agent, phase)
    expect(await run(agent, '/compact')).toBe('text: Stopped. The conversation is as it was.')
    expect(isStopped()).toBe(true)
    expect(JSON.stringify(agent.session().messages())).toBe(before)
    await agent.submit({ text: 'Go on.' })
    expect(agent.session().messages().at(-1)?.role).toBe('assistant')
  })

  test('stopped after the write is done, and whole', async () => {
    const { agent, events } = await answering()
    fill(agent.session(), { rounds: 6, tokens: 800 })
    const isStopped = interruptAt(agent, 'hooks-after')
    expect(await run(agent, '/compact')).toMatch(/^text: Compacted /)
    expect([isStopped(), events.filter(({ type }) => type === 'receipt').length]).toEqual([true, 1])
    expect(agent.session().messages()[0]?.origin).toBe('summary')
  })

  test('says why when there is nothing to compact', async () => {
    const { agent } = await answering()
    expect(await run(agent, '/compact')).toMatch(/^error: Nothing was compacted: /)
  })

  test('has to wait for a running turn', async () => {
    const { opened, open } = gate()
    const wait = defineTool({
      name: 'Wait',
      description: 'Waits.',
      input: z.object({}),
      run: () => opened.then(() => ''),
    })
    const { agent, events } = await stage({ script: fixed([toolUse('Wait'), text('Done.')]), tools: [wait] })
    const turn = agent.submit({ text: 'Wait.' })
    await until(() => events.some(({ type }) => type === 'tool-started'))
    expect(await run(agent, '/compact')).toMatch(/^error: \/compact has to wait: a turn is running/)
    expect(await run(agent, '/cost')).toMatch(/^text: your turns/)
    open()
    await turn
  })
})

describe('editing by hand', () => {
  test('/rewind offers your messages, goes back to before one, and /undo comes back', async () => {
    const { agent } = await answering()
    for (const words of ['One.', 'Two.', 'Three.']) await agent.submit({ text: words })
    const offered = await agent.command('/rewind')
    if (offered.type !== 'choose') throw new Error('There is nothing to choose from.')
    expect(offered.choices.map(({ label }) => label)).toEqual(['Three.', 'Two.', 'One.'])
    const all = size(agent)
    expect(await agent.command(offered.choices[1]?.command ?? '')).toEqual({
      type: 'edit',
      text: 'The conversation is as it was before that message. /undo takes this back.\nFiles are as they were.',
      input: 'Two.',
    })
    expect(JSON.stringify(agent.session().messages())).not.toContain('Two.')
    expect(JSON.stringify(agent.session().messages())).toContain('One.')
    await run(agent, '/undo')
    expect(size(agent)).toBe(all)
    expect(await run(agent, '/rewind nonsense')).toBe('error: There is no message nonsense in this session.')
  })

  test('of many messages the newest 50 are offered, the newest first', async () => {
    const { agent } = await answering()
    for (let at = 1; at <= 51; at++) {
      agent.session().add({ role: 'user', content: `Question ${at}.` })
      agent.session().record({ content: `Answer ${at}.` })
    }
    const offered = await agent.command('/rewind')
    const labels = offered.type === 'choose' ? offered.choices.map(({ label }) => label) : []
    expect([labels.length, labels[0], labels.at(-1)]).toEqual([50, 'Question 51.', 'Question 2.'])
  })

  test('/snip removes a message and what followed it', async () => {
    const { agent } = await answering()
    fill(agent.session(), { rounds: 3, tokens: 600 })
    const offered = await agent.command('/snip')
    if (offered.type !== 'choose') throw new Error('There is nothing to choose from.')
    expect(await run(agent, offered.choices[1]?.command ?? '')).toMatch(/^text: Removed [\d,]+ tokens from the context/)
    const left = JSON.stringify(agent.session().messages())
    const isLeft = (words: string) => [1, 2, 3].map((at) => left.includes(words.replace('#', String(at))))
    expect([isLeft('Question #:'), isLeft('Answer #.')]).toEqual([
      [true, false, true],
      [true, false, true],
    ])
  })

  test('/pin keeps a message through a compaction, and /unpin lets it go', async () => {
    const { agent } = await answering()
    fill(agent.session(), { rounds: 6, tokens: 800 })
    const offered = await agent.command('/pin')
    if (offered.type !== 'choose') throw new Error('There is nothing to choose from.')
    const last = offered.choices.find(({ label }) => label.includes('Answer 3.'))
    const back = (last?.command ?? '').replace('/pin', '/unpin')
    expect(await run(agent, last?.command ?? '')).toBe(`text: Pinned. ${back} takes this back.`)
    await run(agent, '/compact')
    expect(JSON.stringify(agent.session().messages())).toContain('It parses records. Answer 3.')
    expect(await run(agent, back)).toBe('text: Unpinned.')
  })

  test('/recall finds what has left the context, and shows it whole by its id', async () => {
    const { agent } = await answering()
    await agent.submit({ text: 'The password of the door is marzipan.' })
    fill(agent.session(), { rounds: 6, tokens: 800 })
    await run(agent, '/compact')
    const found = await run(agent, '/recall marzipan')
    expect(found).toContain('The password of the door is')
    const [, id = ''] = / · human · (\S+)/.exec(found) ?? []
    expect(await run(agent, `/recall ${id}`)).toBe('text: The password of the door is marzipan.')
    expect(await run(agent, '/recall zeppelin')).toBe('text: Nothing was found for zeppelin.')
  })
})

describe('sessions', () => {
  test('/clear starts over, /resume offers the old one and goes back, /rename names it', async () => {
    const { agent } = await answering()
    await agent.submit({ text: 'The first session.' })
    const first = agent.session().id
    expect(await run(agent, '/rename Parser work')).toBe('text: This session is called Parser work now.')
    expect(agent.state().title).toBe('Parser work')
    await run(agent, '/clear')
    expect([size(agent), agent.session().id === first]).toEqual([0, false])
    await agent.submit({ text: 'The second session.' })
    const offered = await agent.command('/resume')
    expect(offered).toMatchObject({ type: 'choose', choices: [{ label: 'Parser work', command: `/resume ${first}` }] })
    expect(await run(agent, '/resume Parser work')).toBe('text: Continued: Parser work')
    expect([agent.session().id, await lastHuman(agent)]).toEqual([first, 'The first session.'])
    expect(await run(agent, '/resume 0000')).toMatch(/^error: There is no session 0000/)
    await agent.submit({ text: 'It goes on.' })
    expect(size(agent)).toBe(4)
  })

  test('/fork continues in a copy, and the original stays', async () => {
    const { agent } = await answering()
    await agent.submit({ text: 'Shared.' })
    const first = agent.session().id
    await run(agent, '/fork')
    await agent.submit({ text: 'Only in the copy.' })
    expect(agent.session().id).not.toBe(first)
    expect(JSON.stringify(agent.session().messages())).toContain('Shared.')
    await run(agent, `/resume ${first}`)
    expect(JSON.stringify(agent.session().messages())).not.toContain('Only in the copy.')
  })
})

test('/fork copies only after everything that was said is stored', async () => {
  const { agent } = await answering()
  const session = agent.session()
  const done: string[] = []
  const slow = {
    ...session,
    path: session.path,
    stored: async () => {
      await new Promise((resolve) => setImmediate(resolve))
      done.push('stored')
    },
  }
  const open = async () => void done.push('copied')
  await fork.run('', { session: () => slow, open } as unknown as CommandContext)
  expect(done).toEqual(['stored', 'copied'])
})

describe('reports', () => {
  test('/cost counts the whole session: opened again, in a copy, with its compactions and sub-agents', async () => {
    const set = await stage({
      script: fixed([toolUse('Agent', { description: 'look', prompt: 'Look.' }), text('I looked.'), text('Done.')]),
      tools: [subagentTool({ tools: [] })],
    })
    const { agent } = set
    expect(await run(agent, '/cost')).toBe('text: Nothing was spent yet.')
    await agent.submit({ text: 'Look at it.' })
    fill(agent.session(), { rounds: 6, tokens: 800 })
    await run(agent, '/compact')
    await agent.submit({ text: 'Again.' })
    const spent = await run(agent, '/cost')
    expect(spent.split('\n').map((line) => line.replace(/(request|requests): .*, \$0\.\d+$/, '$1'))).toEqual([
      expect.stringMatching(/^text: your turns +3 requests$/),
      expect.stringMatching(/^compactions +1 request$/),
      expect.stringMatching(/^sub-agents +1 request$/),
      expect.stringMatching(/^Total: \$0\.\d+$/),
    ])
    const path = agent.session().path ?? ''
    await agent.close()
    const again = await set.again({ session: { type: 'open', path } })
    expect(await run(again.agent, '/cost')).toBe(spent)
    await run(again.agent, '/compact')
    expect(await run(again.agent, '/cost')).toMatch(/^compactions +2 requests/m)
    await run(again.agent, '/fork')
    const copied = await run(again.agent, '/cost')
    expect(copied).toMatch(/your turns +3 requests.*\ncompactions +2 requests/)
  })

  test('/context, /explain, /cost and /memory say what is there', async () => {
    const { agent } = await answering()
    await agent.submit({ text: 'Hello.' })
    expect(await run(agent, '/context')).toMatch(
      /^text: [\d,]+ tokens \(reported, claude-opus-4-5\), \d+ % left of [\d,]+\n/,
    )
    const [first = '', picture = '', ...rows] = (await run(agent, '/context')).split('\n')
    expect(picture).toMatch(/^\[[a-z]?·+\|·+\] {2}of 200,000$/)
    expect(picture.indexOf(']')).toBe(62)
    const numbers = rows.map((row) => Number(/([\d,]+) +<?\d+ %$/.exec(row)?.[1]?.replaceAll(',', '')))
    expect(numbers.reduce((sum, number) => sum + number, 0)).toBe(Number(/[\d,]+/.exec(first)?.[0].replaceAll(',', '')))
    expect(rows.join('\n')).toContain('system-prompt')
    expect(await run(agent, '/explain')).toMatch(/context window\s+200,000 {2}/)
    expect(await run(agent, '/cost')).toMatch(/your turns\s+1 request: in [\d,]+, out [\d,]+, .*\nTotal: \$0\.\d+$/)
    expect(await run(agent, '/memory')).toBe(
      'text: No instruction files: add an AGENTS.md to the project.\nNo notes about this session yet.',
    )
  })

  test('/help lists every command, and a typing error gets a suggestion', async () => {
    const { agent } = await answering()
    const help = await run(agent, '/help')
    expect(commands.filter((command) => !help.includes(`${usageOf(command)} `))).toEqual([])
    expect(await run(agent, '/compat')).toBe(
      'error: There is no command /compat. Did you mean /compact or /context or /cost or /config? /help lists all.',
    )
    expect(await run(agent, '/quit')).toBe('quit')
    expect(await run(agent, '/exit')).toBe('quit')
  })
})

test('docs/agent.md lists every command', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../docs/agent.md'), 'utf8')
  const [, section = ''] = page.split('\n## Commands\n')
  const listed = new Set([...(section.split('\n## ')[0]?.matchAll(/`\/([\w-]+)/g) ?? [])].map(([, name]) => name))
  expect([...listed].toSorted()).toEqual(commands.map(({ name }) => name).toSorted())
})

describe('setup', () => {
  test('/permissions shows and changes the mode', async () => {
    const { agent } = await answering()
    expect(await run(agent, '/permissions')).toBe(
      'text: Mode ask: edits ask, and commands unless they run in the sandbox or only look.\nSandbox: off. Rules alone decide about commands.\nNo rules.',
    )
    expect(await run(agent, '/permissions plan')).toBe('text: Mode plan: nothing is changed.')
    expect(agent.state().mode).toBe('plan')
    expect(await run(agent, '/permissions all')).toBe('error: all is no mode. Modes: ask, accept-edits, plan, allow.')
  })

  test('/permissions lists the rules that hold now, also those that were added since the start', async () => {
    const context = {
      mode: () => 'accept-edits',
      sandbox: () => ({ type: 'off' }),
      settings: { permissions: { allow: ['Bash(npm test:*)'], deny: ['Read(.env)'] } },
      rules: () => ({ allow: ['Bash(npm test:*)', 'mcp__weather__forecast'], deny: ['Read(.env)'] }),
    }
    const shown = await permissions.run('', context as unknown as CommandContext)
    expect(shown).toEqual({
      type: 'text',
      text: [
        'Mode accept-edits: edits in the workspace do not ask.',
        'Sandbox: off. Rules alone decide about commands.',
        'Rules, of the settings unless marked:',
        '  allow Bash(npm test:*)',
        '  allow mcp__weather__forecast (added in this session)',
        '  deny Read(.env)',
      ].join('\n'),
    })
  })

  test.each([
    ['claude-opus-5', 'http://me:secret@localhost:1/x', 'claude-opus-5 at http://localhost:1'],
    ['anthropic:claude-opus-5@http://localhost:2', 'http://localhost:1', 'anthropic:claude-opus-5@http://localhost:2'],
    ['openai:gpt-5', 'http://localhost:1', 'openai:gpt-5'],
    ['claude-opus-5', undefined, 'claude-opus-5'],
  ])('/status names the server of %s, with %s in the environment', async (words, url, shown) => {
    const { agent } = await answering()
    const result = await status.run('', {
      ...{
        session: agent.session,
        folder: '/work',
        home: '/home',
        ownCommands: () => [],
        toolSet: {},
        name: () => 'x',
      },
      ...{
        model: () => ({ words }),
        mode: () => 'ask',
        sandbox: () => ({ type: 'off' }),
        env: { ANTHROPIC_BASE_URL: url },
      },
      settings: { hooks: {}, permissions: {} },
    } as unknown as CommandContext)
    const lines = result.type === 'text' ? result.text.split('\n') : []
    expect(lines).toContain(`model         ${shown}`)
    expect(lines.at(-1)).toMatch(/^version {7}\d+\.\d+\.\d+/)
  })

  test('/model offers models and refuses what is none', async () => {
    const { agent } = await answering()
    const offered = await agent.command('/model')
    if (offered.type !== 'choose') throw new Error('There is nothing to choose from.')
    expect(offered.choices[0]).toEqual({
      label: 'anthropic:claude-opus-4-5',
      detail: 'in use',
      command: '/model anthropic:claude-opus-4-5',
    })
    // The model in use is listed once, also if it is one of those that are offered.
    const words = `anthropic:${knownModels()[1]?.id}`
    const again = await model.run('', { model: () => ({ words }) } as CommandContext)
    const labels = again.type === 'choose' ? again.choices.map(({ label }) => label) : []
    const newestFirst = knownModels().map(({ id }) => `anthropic:${id}`)
    expect(labels).toEqual([words, ...newestFirst.filter((name) => name !== words), 'demo'])
    const short = await model.run('', { model: () => ({ words: words.slice(10) }) } as CommandContext)
    expect(short).toEqual(again)
    expect(labels[1]).toBe('anthropic:claude-fable-5-2')
    expect(labels.indexOf('anthropic:claude-opus-5-5')).toBeLessThan(labels.indexOf('anthropic:claude-3-7-sonnet'))
    expect(await run(agent, '/model gpt')).toMatch(/^error: gpt names no model/)
    expect(await run(agent, '/model anthropic:claude-opus-5')).toMatch(
      /^error: There is no key for anthropic:claude-opus-5/,
    )
    expect(await run(agent, '/model demo')).toBe('error: There is no demo model here.')
  })

  test('/model changes to the demo of the host', async () => {
    const demo = async () => ({ type: 'model' as const, words: 'demo', name: 'offline', client: offline() })
    const { agent } = await stage({ script: () => text('Here you are.'), agent: { demo } })
    expect(await run(agent, '/model demo')).toBe('text: demo from now on.')
    expect(agent.state().model).toBe('demo')
  })
})

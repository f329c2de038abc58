// Level 3 where it must keep its hands off: bound thinking, other tenants, a store that is away.

import { join } from 'node:path'
import Anthropic from '@anthropic-ai/sdk'
import { combine, type Script, type ScriptRequest, summarizer, text, thinking, toolUse } from '@everlong/simulator'
import { blocksOf, isToolResult, textOf } from 'everlong/internal'
import { memorySessions, type SessionStore } from 'everlong/stores'
import { afterEach, expect, test } from 'vitest'
import { type Setup, type SetupOptions, sessionsIn, setUp } from '../testing/setup.ts'
import { createManaged } from './managed.ts'

let setup: Setup | undefined
afterEach(async () => {
  await setup?.close()
  setup = undefined
})

const tools = [{ name: 'Bash', description: 'runs a command', input_schema: { type: 'object' as const } }]
const asksForSummary = ({ messages }: ScriptRequest) =>
  textOf(messages.at(-1)?.content).includes('Somebody who has never seen')

/** Thinks, and runs a command in every turn. */
function thinks(requests: ScriptRequest[]): Script {
  const summary = summarizer()
  return (request, context) => {
    requests.push(request)
    if (asksForSummary(request)) return summary(request, context)
    if (blocksOf(request.messages.at(-1)?.content).some(isToolResult)) return combine(thinking('Hm.'), text('Done.'))
    return combine(thinking('I run the tests.'), toolUse('Bash', { command: 'npm test' }))
  }
}

async function started(model: string, options: SetupOptions = {}) {
  const requests: ScriptRequest[] = []
  const simulator = { windows: { [model]: 20_000 } }
  setup = await setUp({ script: thinks(requests), config: { level: 'manage' }, simulator, ...options })
  return { ...setup, requests }
}

type LoopOptions = { readonly url: string; readonly model: string; readonly word?: string; readonly key?: string }

function loop({ url, model, word = 'heron', key = '' }: LoopOptions) {
  const headers = { 'x-everlong-session': 'work', ...(key === '' ? {} : { 'x-everlong-key': key }) }
  const client = new Anthropic({ apiKey: word, baseURL: url, maxRetries: 0, defaultHeaders: headers })
  const messages: Anthropic.MessageParam[] = []
  const send = async () => {
    const answer = await client.messages.create({ model, max_tokens: 1_000, tools, messages })
    messages.push({ role: 'assistant', content: answer.content })
    return answer
  }
  return {
    messages,
    turn: async (at: number) => {
      messages.push({ role: 'user', content: `Step ${at} of the ${word}.` })
      const call = (await send()).content.find((block) => block.type === 'tool_use')
      const output = Array.from({ length: 150 }, (_, line) => `${at}.${line} the ${word} as expected here`).join('\n')
      messages.push({ role: 'user', content: [{ type: 'tool_result', tool_use_id: call?.id ?? '', content: output }] })
      await send()
    },
  }
}

const plain = (messages: readonly { readonly role: string; readonly content: unknown }[]) =>
  messages.map(({ role, content }) => [role, blocksOf(content as never)])

/** Talks until the history is larger than the window. Whether every request was what the client had sent, and how it ended. */
async function talked(model: string) {
  const { url, requests } = await started(model)
  const { turn, messages } = loop({ url, model })
  let status = 200
  for (let at = 0; at < 18 && status === 200; at++) {
    await turn(at).catch((error: { readonly status?: number }) => {
      status = error.status ?? 0
    })
  }
  const all = plain(messages)
  const isUntouched = requests.every(
    (request) => JSON.stringify(plain(request.messages)) === JSON.stringify(all.slice(0, request.messages.length)),
  )
  await setup?.close()
  setup = undefined
  return { status, isUntouched }
}

test('a history whose thinking is bound passes untouched, to the refusal of the upstream; another one is reduced', async () => {
  expect(await talked('claude-opus-5-5')).toEqual({ status: 400, isUntouched: true })
  expect(await talked('claude-sonnet-4-6')).toEqual({ status: 200, isUntouched: false })
})

test('two tenants with the same name of a session have nothing in common', async () => {
  const model = 'claude-sonnet-4-6'
  const secrets = { ann: 'a'.repeat(32), bob: 'b'.repeat(32) }
  const keys = [
    { name: 'ann', tenant: 'acme', secrets: [secrets.ann] },
    { name: 'bob', tenant: 'rivals', secrets: [secrets.bob] },
  ]
  const { url, folder, requests, gateway } = await started(model, { config: { level: 'manage', keys } })
  const ann = loop({ url, model, word: 'heron', key: secrets.ann })
  const bob = loop({ url, model, word: 'crane', key: secrets.bob })
  for (let at = 0; at < 10; at++) {
    await ann.turn(at)
    await bob.turn(at)
  }
  const words = requests
    .map(({ messages }) => JSON.stringify(messages))
    .map((said) => [/heron/.test(said), /crane/.test(said)])
  expect(words.filter(([one, other]) => one && other)).toEqual([])
  await gateway.close()
  const kept = async (tenant: string) => JSON.stringify([...(await sessionsIn(join(folder, 'managed', tenant)))])
  const [acme, rivals] = [await kept('acme'), await kept('rivals')]
  expect([/heron/.test(acme), /crane/.test(acme), /heron/.test(rivals), /crane/.test(rivals)]).toEqual([
    ...[true, false],
    ...[false, true],
  ])
})

test('if the engine cannot work, the request passes as it came, and the log says so', async () => {
  const model = 'claude-sonnet-4-6'
  const away = { ...memorySessions(), open: () => Promise.reject(new Error('the store is away')) }
  const { url, requests, lines, sessions } = await started(model, { ports: { managedStoreOf: () => away } })
  const { turn, messages } = loop({ url, model })
  await turn(0)
  expect(plain(requests.at(-1)?.messages ?? [])).toEqual(plain(messages.slice(0, 3)))
  expect((await sessions()).get('work')).toHaveLength(4)
  expect(lines.filter(({ event }) => event === 'not-managed')).toMatchObject([
    { why: 'the store is away' },
    { why: 'the store is away' },
  ])
})

test('a conversation that nobody has used for long makes room for others, but not one in use', async () => {
  const closed: string[] = []
  const memory = memorySessions()
  const store: SessionStore = {
    ...memory,
    open: async (id, options) => {
      const opened = await memory.open(id, options)
      if (opened.type !== 'opened') return opened
      const release = async () => {
        closed.push(id)
        await opened.session.release()
      }
      return { ...opened, session: { ...opened.session, release } }
    },
  }
  const managed = createManaged({ storeOf: () => store, max: 1, isShared: false, waitMs: 0, onEvent: () => undefined })
  const usage = { input_tokens: 10, output_tokens: 2 }
  const said = [{ type: 'text', text: 'Hello.' }]
  const answer = { type: 'message', role: 'assistant', model: 'claude-sonnet-4-6', content: said, usage }
  const used = async (session: string) => {
    const using = managed.use({ tenant: 'a', session, dialect: 'messages' })
    const body = { model: 'claude-sonnet-4-6', max_tokens: 10, messages: [{ role: 'user', content: 'Hello.' }] }
    const next = async () => Response.json({ ...answer, id: `msg_${session}` })
    const context = { parse: (response: Response) => response.json(), logger: { debug: () => undefined } }
    const signal = new AbortController().signal
    await using.run({ body, wire: { signal, next, context, failureIn: () => undefined } })
    return using
  }
  const one = await used('one')
  const two = await used('two')
  const again = await used('one')
  expect(closed).toEqual([])
  await one.release()
  await two.release()
  expect(closed).toEqual([])
  await again.release()
  expect(closed).toEqual(['two'])
  expect((await used('one')).run).toBe(one.run)
  await managed.close()
  expect(closed).toEqual(['two', 'one'])
})

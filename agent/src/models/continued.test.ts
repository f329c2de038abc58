// A session continues with the model that it last used, in a new process and after /resume.
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type RunningServer, startServer, text } from '@everlong/simulator'
import { offline } from 'everlong'
import { afterEach, expect, test } from 'vitest'
import type { Agent } from '../app.ts'
import { sessionsFolder } from '../sessions/places.ts'
import { type StartOptions, startAgent } from '../start.ts'
import { setFolder } from '../testing/folder.ts'

const temporary = setFolder()
const servers: RunningServer[] = []
const agents: Agent[] = []
afterEach(async () => {
  for (const agent of agents.splice(0)) await agent.close()
  for (const server of servers.splice(0)) await server.close()
})

const person = { askPermission: async () => ({ type: 'deny' }) as const, askQuestions: async () => undefined }

async function world() {
  const base = temporary()
  const [folder, home] = [join(base, 'project'), join(base, 'home')]
  for (const each of [folder, home]) mkdirSync(each)
  /** Models that were asked, in order. */
  const asked: string[] = []
  const server = await startServer({
    script: ({ model }) => {
      asked.push(model)
      return text('Yes.')
    },
  })
  servers.push(server)
  const env = { EVERLONG_HOME: home, ANTHROPIC_BASE_URL: server.url, ANTHROPIC_API_KEY: 'k', EVERLONG_SANDBOX: 'off' }
  const start = async (options: Partial<StartOptions> = {}) => {
    const started = await startAgent({ folder, env, person, ...options })
    if (started.type !== 'started') throw new Error(JSON.stringify(started))
    const { agent, notices } = started
    agents.push(agent)
    const later: string[] = []
    agent.on((event) => event.type === 'notice' && later.push(event.text))
    return { agent, notices, later, words: agent.state().model }
  }
  const configure = (settings: object) => writeFileSync(join(home, 'settings.json'), JSON.stringify(settings))
  return { asked, env, start, configure, url: server.url, sessions: sessionsFolder(home, folder) }
}

const again = { session: { type: 'continue' } } as const
const told = (words: string) => `This session continues with ${words}, the model that it last used. /model changes it.`

test('a continued session uses the model that /model chose, also the second time and without a message in between', async () => {
  const { start, asked } = await world()
  const { agent, words } = await start()
  await agent.submit({ text: 'Hi' })
  await agent.command('/model claude-haiku-4-5')
  await agent.close()
  const second = await start(again)
  await second.agent.close()
  const third = await start(again)
  await third.agent.submit({ text: 'And now?' })
  expect([words, second.words, third.words]).toEqual([
    'anthropic:claude-opus-5',
    'claude-haiku-4-5',
    'claude-haiku-4-5',
  ])
  expect([second.notices, third.notices]).toEqual([[told('claude-haiku-4-5')], [told('claude-haiku-4-5')]])
  expect(asked).toEqual(['claude-opus-5', 'claude-haiku-4-5'])
})

test('a copy continues with the model of its original', async () => {
  const { start } = await world()
  const { agent } = await start({ model: 'claude-haiku-4-5' })
  await agent.submit({ text: 'Hi' })
  await agent.close()
  const copy = await start({ session: { type: 'continue', isCopy: true } })
  await copy.agent.close()
  expect([copy.words, (await start(again)).words]).toEqual(['claude-haiku-4-5', 'claude-haiku-4-5'])
})

test('the command line comes before the session, the session before the settings, and nothing is said if they agree', async () => {
  const { start, configure } = await world()
  configure({ model: 'claude-haiku-4-5' })
  const { agent } = await start()
  await agent.submit({ text: 'Hi' })
  await agent.close()
  const same = await start(again)
  await same.agent.close()
  configure({ model: 'claude-sonnet-4-5' })
  const other = await start(again)
  await other.agent.close()
  const named = await start({ ...again, model: 'claude-opus-4-5' })
  await named.agent.submit({ text: 'Go on.' })
  await named.agent.close()
  const after = await start(again)
  expect([same, other, named, after].map(({ words, notices }) => [words, notices])).toEqual([
    ['claude-haiku-4-5', []],
    ['claude-haiku-4-5', [told('claude-haiku-4-5')]],
    ['claude-opus-4-5', []],
    ['claude-opus-4-5', [told('claude-opus-4-5')]],
  ])
})

test('another provider is taken back with its address', async () => {
  const { start, url } = await world()
  const words = `openai:qwen3:8b@${url}/v1`
  const { agent } = await start()
  await agent.submit({ text: 'Hi' })
  await agent.command(`/model ${words}`)
  await agent.close()
  const second = await start(again)
  expect([second.words, second.notices]).toEqual([words, [told(words)]])
})

test('a model that cannot be used any more is replaced by the configured one, and the person is told', async () => {
  const { start, env, configure } = await world()
  const { agent } = await start({ env: { ...env, OPENAI_API_KEY: 'k' } })
  await agent.submit({ text: 'Hi' })
  await agent.command('/model openai:gpt-5')
  await agent.close()
  configure({ model: 'claude-haiku-4-5' })
  const second = await start(again)
  expect([second.words, second.notices]).toEqual([
    'claude-haiku-4-5',
    [
      'This session used openai:gpt-5, which cannot be used now. There is no key for it. It continues with claude-haiku-4-5.',
    ],
  ])
  await second.agent.submit({ text: 'Go on.' })
  await second.agent.close()
  expect((await start(again)).notices).toEqual([])
})

test('if the configured model cannot be used either, the person is told how to set one up', async () => {
  const { start, env } = await world()
  const { agent } = await start()
  await agent.submit({ text: 'Hi' })
  await agent.close()
  const { EVERLONG_HOME } = env
  await expect(start({ ...again, env: { EVERLONG_HOME } })).rejects.toThrow('no-model')
})

test('/resume uses the model of the session and says so; /clear and /fork keep the one in use', async () => {
  const { start, asked } = await world()
  const { agent, later } = await start()
  await agent.submit({ text: 'First.' })
  const first = agent.session().id
  await agent.command('/clear')
  await agent.command('/model claude-haiku-4-5')
  await agent.submit({ text: 'Second.' })
  const second = agent.session().id
  await agent.command(`/resume ${first}`)
  const resumed = agent.state().model
  await agent.submit({ text: 'First again.' })
  await agent.command(`/resume ${second}`)
  await agent.command('/fork')
  await agent.submit({ text: 'Third.' })
  expect(resumed).toBe('anthropic:claude-opus-5')
  expect(asked).toEqual(['claude-opus-5', 'claude-haiku-4-5', 'claude-opus-5', 'claude-haiku-4-5'])
  expect(later).toEqual([told('anthropic:claude-opus-5'), told('claude-haiku-4-5')])
})

test('/resume keeps the model in use if the command line named it, or if that of the session cannot be used', async () => {
  const { start, env } = await world()
  const { agent } = await start({ env: { ...env, OPENAI_API_KEY: 'k' } })
  await agent.submit({ text: 'First.' })
  const first = agent.session().id
  await agent.command('/model openai:gpt-5')
  await agent.close()
  const named = await start({ model: 'claude-haiku-4-5' })
  await named.agent.command(`/resume ${first}`)
  expect([named.agent.state().model, named.later]).toEqual(['claude-haiku-4-5', []])
  await named.agent.close()
  const other = await start()
  await other.agent.command(`/resume ${first}`)
  expect([other.agent.state().model, other.later]).toEqual([
    'anthropic:claude-opus-5',
    [
      'This session used openai:gpt-5, which cannot be used now. There is no key for it. It continues with anthropic:claude-opus-5.',
    ],
  ])
})

test('/resume of a session that cannot be opened keeps session and model', async () => {
  const { start } = await world()
  const held = await start({ model: 'claude-haiku-4-5' })
  await held.agent.submit({ text: 'Held.' })
  const { agent } = await start()
  await agent.submit({ text: 'Mine.' })
  const { id } = agent.session()
  const line = `/resume ${held.agent.session().id}`
  await agent.command(line).catch((error: unknown) => error)
  expect([agent.session().id, agent.state().model]).toEqual([id, 'anthropic:claude-opus-5'])
})

test('the model of a session in which nothing was said is not recorded', async () => {
  const { start, sessions } = await world()
  const { agent } = await start()
  await agent.command('/model claude-haiku-4-5')
  await agent.close()
  expect(readdirSync(sessions).filter((name) => !name.endsWith('.jsonl'))).toEqual([])
})

/** A model of the host that counts how often it was started and closed. */
function countedDemo() {
  const counts = { started: 0, closed: 0 }
  const demo = async () => {
    counts.started++
    const close = async () => void counts.closed++
    return { type: 'model' as const, words: 'demo', name: 'demo', client: offline(), close }
  }
  return { counts, demo }
}

test('/resume does not start the model in use a second time', async () => {
  const { start } = await world()
  const { counts, demo } = countedDemo()
  const { agent, later } = await start({ demo })
  await agent.command('/model demo')
  await agent.submit({ text: 'First.' })
  const first = agent.session().id
  await agent.command('/clear')
  await agent.command(`/resume ${first}`)
  expect([counts, later.filter((text) => text.startsWith('This session'))]).toEqual([{ started: 1, closed: 0 }, []])
})

test('/resume closes the model it leaves, and the new one if the session cannot be opened', async () => {
  const { start } = await world()
  const { counts, demo } = countedDemo()
  const held = await start({ demo: countedDemo().demo, model: 'demo' })
  await held.agent.submit({ text: 'Held.' })
  const { agent } = await start({ demo })
  await agent.submit({ text: 'Mine.' })
  const mine = agent.session().id
  const resume = () => agent.command(`/resume ${held.agent.session().id}`).catch((error: unknown) => error)
  await resume()
  expect([counts, agent.session().id]).toEqual([{ started: 1, closed: 1 }, mine])
  const { id } = held.agent.session()
  await held.agent.close()
  await agent.command(`/resume ${id}`)
  expect([counts, agent.state().model]).toEqual([{ started: 2, closed: 1 }, 'demo'])
  await agent.command(`/resume ${mine}`)
  expect([counts, agent.state().model]).toEqual([{ started: 2, closed: 2 }, 'anthropic:claude-opus-5'])
})

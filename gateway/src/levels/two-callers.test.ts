// Two callers of one tenant in one session of level 3: each pays for the summaries that its own requests need.
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as pause } from 'node:timers/promises'
import { type Script, summarizer, text } from '@everlong/simulator'
import { textOf } from 'everlong/internal'
import { memorySessions, type SessionStore } from 'everlong/stores'
import { expect, test } from 'vitest'
import { started } from '../testing/started.ts'

const keys = ['ann', 'cat'].map((name) => ({ name, tenant: 'acme', secrets: [name.repeat(12)] }))
const isSummary = (said: string) => said.includes('Somebody who has never seen')
const script: Script = (request, context) =>
  isSummary(textOf(request.messages.at(-1)?.content)) ? summarizer()(request, context) : text('Noted.')

const report = (at: number) => Array.from({ length: 600 }, (_, line) => `${at}.${line} as expected here`).join('\n')
/** More than the window. */
const messages = Array.from({ length: 9 }, (_, at) =>
  at % 2 === 0 ? { role: 'user', content: `Report ${at}: ${report(at)}` } : { role: 'assistant', content: 'Noted.' },
)

test.each([
  ['the Messages API', '/v1/messages', 'claude-sonnet-4-6'],
  ['chat completions', '/v1/chat/completions', 'gpt-5'],
])('%s: the caller whose request needs a summary asks for it and pays for it', async (_, path, model) => {
  const opening = Promise.withResolvers<void>()
  const isOpening = Promise.withResolvers<void>()
  const waits = (store: SessionStore): SessionStore => ({
    ...store,
    open: async (...options) => {
      isOpening.resolve()
      await opening.promise
      return store.open(...options)
    },
  })
  const { url, server, gateway, folder } = await started({
    ...{ script, simulator: { windows: { [model]: 20_000 } }, config: { level: 'manage', keys } },
    ports: { managedStoreOf: () => waits(memorySessions()) },
  })
  const ask = async (name: string): Promise<number> => {
    const headers = {
      ...{ 'content-type': 'application/json', authorization: `Bearer ${name}`, 'x-everlong-key': name.repeat(12) },
      ...{ 'x-everlong-session': 'work', 'anthropic-version': '2023-06-01' },
    }
    const body = JSON.stringify({ model, max_tokens: 500, messages })
    return (await fetch(`${url}${path}`, { method: 'POST', headers, body })).status
  }
  const ann = ask('ann')
  await isOpening.promise
  const cat = ask('cat')
  // Until the second request waits for the first one. Too short, and the test proves less.
  await pause(300)
  opening.resolve()
  expect(await Promise.all([ann, cat])).toEqual([200, 200])
  await gateway.settled()
  const rows = new DatabaseSync(join(folder, 'gateway.db'))
  const payers = rows.prepare("SELECT DISTINCT key FROM request WHERE kind = 'own'").all()
  rows.close()
  expect(payers.map(({ key }) => key)).toEqual(['ann'])
  const asked = server.simulator.log.entries
    .filter(({ status }) => status === 200)
    .map(({ organization }) => organization)
  expect(asked.filter((one) => one === 'cat')).toHaveLength(1)
  expect(asked.filter((one) => one === 'ann').length).toBeGreaterThan(1)
})

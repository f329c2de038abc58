import { text, toolUse } from '@everlong/simulator'
import { checkRequest, textOf } from 'everlong/internal'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { prose } from '../testing/history.ts'
import { eventsOf, runLoop, stagesOverHttp } from '../testing/over-http.ts'
import { defineTool } from '../tool.ts'

const setStage = stagesOverHttp()
const window = 40_000

/** A tool whose one result is larger than the window; the model is content with whatever part of it holds the code. */
async function reading(log: string) {
  const stage = await setStage({
    window,
    script: ({ messages }) => {
      const last = textOf(messages.at(-1)?.content)
      const [code] = /CODE-\d+/.exec(last) ?? []
      return code === undefined ? toolUse('Bash', { command: 'cat log' }) : text(`It is ${code}.`)
    },
    engine: { settings: { maxOutputTokens: 4_000 } },
  })
  let runs = 0
  const bash = defineTool({
    name: 'Bash',
    description: 'Runs a command.',
    input: z.object({ command: z.string() }),
    run: () => {
      runs++
      return log
    },
  })
  const session = await stage.engine.start({ maxTokens: 1_000 })
  session.add({ role: 'user', content: 'What is the error code in the log?' })
  const events = await runLoop({ session, tools: [bash], maxTurns: 12 })
  const turns = stage.sent.filter(({ request }) => request.source === 'turn')
  return { stage, session, events, turns, runs }
}

test.each([
  ['at its end', `${prose(60_000, 1)} CODE-7781`],
  ['at its start', `CODE-7781 ${prose(60_000, 1)}`],
])('a tool result larger than the window is shown in part, once, with what matters %s', async (_, log) => {
  const { stage, events, turns, runs } = await reading(log)
  expect(events.at(-1)).toMatchObject({ why: 'finished' })
  expect(eventsOf(events, 'answer').map(({ answer }) => textOf(answer.content))).toEqual(['', 'It is CODE-7781.'])
  expect(runs).toBe(1)
  expect(stage.events.filter(({ type }) => type === 'compaction-finished')).toEqual([])
  expect(turns.map(({ result }) => result.type)).toEqual(['answer', 'answer'])
  expect(turns.flatMap(({ request }) => checkRequest(request.messages))).toEqual([])
})

test('a model that reads such a result again and again is not served compaction after compaction', async () => {
  const { stage, events, turns, runs } = await reading(prose(60_000, 1))
  expect(events.at(-1)).toMatchObject({ why: 'turn-limit' })
  expect(turns.filter(({ result }) => result.type === 'failed')).toEqual([])
  // One for each reading would mean that none of them was ever seen.
  expect(stage.events.filter(({ type }) => type === 'compaction-finished').length).toBeLessThan(runs / 2)
})

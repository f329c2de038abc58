import { expect, test } from 'vitest'
import type { AgentEvent } from './app.ts'
import type { LoopEvent } from './events.ts'
import { type Turn, Turns } from './turns.ts'

/** Turns of one request each that go on until the test ends them. `log` has what happened, in order. */
function playedTurns() {
  const log: string[] = []
  let begun = Promise.withResolvers<{ readonly turn: Turn; readonly end: () => void }>()
  async function* run(turn: Turn): AsyncIterable<LoopEvent> {
    const said = (await turn.incoming()).map(({ content }) => content).join(' + ')
    log.push(`begins${turn.signal.aborted ? ' stopped' : ''}: ${said}`)
    const { promise, resolve } = Promise.withResolvers<void>()
    begun.resolve({ turn, end: resolve })
    await promise
    yield { type: 'notice', text: `ends: ${said}` }
  }
  const turns = new Turns({
    run,
    messagesFor: async ({ text }) => (text === 'refused' ? [] : [{ role: 'user', content: text }]),
    emit: (event: AgentEvent) => void (event.type === 'notice' && log.push(event.text)),
    onChange: () => undefined,
    onInterrupted: () => void log.push('interrupted'),
  })
  /** The turn that runs, or the next one to begin. */
  const current = async () => {
    const turn = await begun.promise
    begun = Promise.withResolvers()
    return turn
  }
  return { turns, log, current }
}

const news = { role: 'user', origin: 'meta', content: 'news' } as const

test('a prompt that comes while an interrupted turn is ending gets a turn of its own', async () => {
  const { turns, log, current } = playedTurns()
  const done = turns.submit({ text: 'one' })
  const first = await current()
  turns.interrupt()
  void turns.submit({ text: 'two' })
  first.end()
  ;(await current()).end()
  await done
  expect(log).toEqual(['begins: one', 'ends: one', 'interrupted', 'begins: two', 'ends: two'])
})

test('an interrupt gives back what was queued, and news alone start no turn after it', async () => {
  const { turns, log, current } = playedTurns()
  const done = turns.submit({ text: 'one' })
  const first = await current()
  void turns.submit({ text: 'two' })
  expect(turns.interrupt()).toEqual([{ text: 'two' }])
  void turns.tell(news)
  first.end()
  await done
  expect([turns.isBusy(), turns.queued()]).toEqual([false, []])
  const next = turns.submit({ text: 'three' })
  ;(await current()).end()
  await next
  expect(log).toEqual(['begins: one', 'ends: one', 'interrupted', 'begins: news + three', 'ends: news + three'])
})

test('what comes while a turn runs waits for its next request, or for the next turn', async () => {
  const { turns, log, current } = playedTurns()
  const done = turns.submit({ text: 'one' })
  const first = await current()
  void turns.submit({ text: 'two' })
  expect((await first.turn.incoming()).map(({ content }) => content)).toEqual(['two'])
  expect(await first.turn.incoming()).toEqual([])
  void turns.submit({ text: 'three' })
  first.end()
  ;(await current()).end()
  await done
  expect(log).toEqual(['begins: one', 'ends: one', 'begins: three', 'ends: three'])
})

test('a refused prompt starts no turn, and closing drops what waits', async () => {
  const { turns, log, current } = playedTurns()
  await turns.submit({ text: 'refused' })
  expect(log).toEqual([])
  void turns.submit({ text: 'one' })
  const first = await current()
  void turns.submit({ text: 'two' })
  void turns.tell(news)
  const closed = turns.close()
  first.end()
  await closed
  expect(log).toEqual(['begins: one', 'ends: one', 'interrupted'])
})

// Every row of the table: its default, the limits of its values, and an effect of the value. Rows without an observer are listed
// by name, so that the list can only shrink.
import { describe, expect, test } from 'vitest'
import { createEngine } from '../../engine.ts'
import { memorySessions } from '../../stores/memory.ts'
import { session } from '../../testing/index.ts'
import { reductions } from '../mechanisms/lists.ts'
import { situationOf } from '../mechanisms/situation.ts'
import { viewOf } from '../mechanisms/testing/examples.ts'
import { isObject } from '../message/json.ts'
import type { ModelFailure } from '../ports/model.ts'
import { createTestWorld, scripted } from '../session/testing/world.ts'
import { checkSettings, settingPaths } from './check.ts'
import { completeSettings, defaultSettings, readEnvironment, variablesIn } from './resolve.ts'
import { type EngineSettings, settingsTable } from './table.ts'

/** `{ summary: { model: value } }` for `summary.model`. */
function settingsWith(path: string, value: unknown): EngineSettings {
  return path.split('.').reduceRight<unknown>((inner, name) => ({ [name]: inner }), value) as EngineSettings
}

function valueAt(settings: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((place, name) => (isObject(place) ? place[name] : undefined), settings)
}

type Field = { readonly wants: string; readonly accepts: (value: unknown) => boolean; readonly default: unknown }

function fieldAt(path: string): Field {
  const [first = '', ...rest] = path.split('.')
  const table = settingsTable as unknown as Record<string, unknown>
  return rest.reduce<unknown>(
    (place, name) => (place as { fields: Record<string, unknown> }).fields[name],
    table[first],
  ) as Field
}

const rows = settingPaths().filter((path) => 'accepts' in fieldAt(path))

/** By the wording of a rule: the smallest and largest value, and the values just outside. */
const limits: Readonly<Record<string, { readonly inside: readonly unknown[]; readonly outside: readonly unknown[] }>> =
  {
    'a whole number': { inside: [0, Number.MAX_SAFE_INTEGER], outside: [-1, 0.5, 2 ** 53, '3', null] },
    'a whole number of tokens': { inside: [0, Number.MAX_SAFE_INTEGER], outside: [-1, 0.5, 2 ** 53, '3', true] },
    'a whole number of tokens above 0': { inside: [1, Number.MAX_SAFE_INTEGER], outside: [0, -1, 1.5, 2 ** 53, '3'] },
    'a share between 0 and 1': { inside: [0.001, 0.999], outside: [0, 1, -0.1, 1.1, '0.5'] },
    'true or false': { inside: [true, false], outside: [0, 1, 'true', null, []] },
    'a text': { inside: ['x', ' '], outside: ['', 5, null, {}] },
    'a list of texts': { inside: [[], ['', 'x']], outside: ['x', [1], {}, null] },
  }

describe.each(rows)('%s', (path) => {
  const { wants, accepts, default: own } = fieldAt(path)

  test('has a default that it accepts, and is complete without being set', () => {
    if (own !== undefined) expect(accepts(own)).toBe(true)
    expect(valueAt(completeSettings({}), path)).toEqual(own)
    expect(valueAt(defaultSettings, path)).toEqual(own)
  })

  const known = limits[wants] ?? choices(wants)

  if (!known) return

  test('takes the values at its limits, and refuses those just outside with a warning', () => {
    for (const value of known.inside) {
      const { settings, problems } = checkSettings(settingsWith(path, value))
      expect([value, valueAt(settings, path), problems]).toEqual([value, value, []])
    }
    for (const value of known.outside) {
      const { settings, problems } = checkSettings(settingsWith(path, value))
      expect([value, valueAt(settings, path), problems.map((problem) => problem.path)]).toEqual([
        value,
        undefined,
        [path],
      ])
    }
  })
})

/** All allowed words, and words that look similar. */
function choices(wants: string) {
  const [, list] = /^one of (.+)$/.exec(wants) ?? []
  if (list === undefined) return undefined
  const words = list.split(', ')
  const inside = words.map((word) => (word === 'false' ? false : word === 'null' ? null : word))
  return { inside, outside: ['', words[0]?.toUpperCase(), `${words.at(-1)} `, 1, true] }
}

test.each(variablesIn(settingsTable).map(({ path, variable }) => [variable.name, path.join('.'), variable] as const))(
  '%s comes before %s, and nothing else changes',
  (name, path, variable) => {
    const [text, value] =
      variable.type === 'flag'
        ? ['yes', variable.value]
        : variable.type === 'percent'
          ? ['55', '55%']
          : ['44000', 44_000]
    const given = settingsWith(path, variable.type === 'flag' ? fieldAt(path).default : 66_000)
    const read = readEnvironment(given, { [name]: text })
    expect(read.warnings).toEqual([])
    if (variable.type === 'cap') expect([read.maxWindow, read.settings]).toEqual([{ value, source: name }, given])
    else expect([read.settings, read.sources]).toEqual([settingsWith(path, value), { [path]: name }])
    expect(readEnvironment(given, { [name]: '' }).settings).toEqual(given)
    expect(readEnvironment(given, { [name]: variable.type === 'flag' ? 'no' : 'many' }).settings).toEqual(given)
  },
)

type Observer = (settings: EngineSettings) => unknown | Promise<unknown>

const explained: Observer = (settings) => {
  const world = createTestWorld({ settings })
  world.session.add({ role: 'user', content: 'const answer = (question) => question.length\n'.repeat(200) })
  return world.session.explain()
}

/** Binds its thinking to the messages before it. */
const binding = 'claude-opus-5-5'

/** Results of several tools, in a finished and in the current turn, with thinking. */
function busyView(model: string) {
  const built = session({ startTime: '2026-03-02T09:00:00.000Z' }).user('Go.')
  const call = (id: string, name: string, input: Record<string, unknown>) => {
    const thought = { type: 'thinking', thinking: 'Hm. '.repeat(50), signature: 'c2ln' }
    built.assistant([thought, { type: 'tool_use', id, name, input }], { model, tokens: { input: 90_000, output: 10 } })
    built.toolResult(id, `${id} ${'some words of a result '.repeat(400)}`)
  }
  for (let at = 0; at < 7; at++) call(`f${at}`, at % 2 === 0 ? 'Read' : 'MyTool', { file_path: `/p/${at}.ts` })
  call('w', 'Write', { file_path: '/p/w.ts', content: 'export const line = 1\n'.repeat(300) })
  built.assistant('Done.', { model }).user('And now?')
  for (let at = 0; at < 10; at++) call(`c${at}`, 'Bash', { command: `run ${at}` })
  built.assistant('So far.', { model, tokens: { input: 190_000, output: 10 } })
  return viewOf(built.records)
}

const views = new Map(['claude-opus-4-5', binding].map((model) => [model, busyView(model)] as const))
const moments = [
  { minutes: 1, client: {} },
  { minutes: 1, client: {}, expectedTurns: 1 },
  { minutes: 1, client: { cacheEdits: true } },
  { minutes: 1, client: { contextManagement: true } },
  { minutes: 10, client: {} },
  { minutes: 45, client: { contextManagement: true } },
  { minutes: 90, client: {} },
]

/** The plans of every reduction, right after the answer and after pauses, for servers with different abilities. */
const reduced: Observer = ({ reductions: given = {} }) =>
  [...views].flatMap(([model, view]) =>
    moments.flatMap(({ minutes, ...more }) => {
      const now = (view.messages.at(-1)?.time ?? 0) + minutes * 60_000
      const settings = { contextWindow: 200_000, maxOutputTokens: 8_000 }
      const own = { ...given, bySize: { minFreed: 1_000, target: 500, ...given.bySize } }
      const input = { now, model, settings, thinks: true, expectedTurns: 50, reductions: own, ...more }
      const situation = situationOf(view, input)
      return reductions.map((mechanism) => mechanism.plan(view, situation))
    }),
  )

/** A session of the whole engine, with a fixed clock and a model with scripted answers. */
async function engineSession(settings: EngineSettings, reply: () => string | ModelFailure = () => 'Short summary.') {
  let ids = 0
  const model = scripted(reply)
  const ports = {
    now: () => Date.UTC(2026, 2, 2),
    newId: () => `id-${++ids}`,
  }
  const engine = createEngine({ model, settings, environment: {}, store: memorySessions(), ports })
  const live = await engine.start({ id: 's' })
  for (let at = 1; at <= 10; at++) {
    live.add({ role: 'user', content: `Question ${at}: ${'why is the table so wide? '.repeat(60)}` })
    live.record({ id: `msg_${at}`, content: `Answer ${at}: ${'because of its rows. '.repeat(60)}` })
  }
  const seen = () => ({
    messages: live.messages(),
    requests: model.requests.map(({ source, model: name, maxTokens, messages }) => [source, name, maxTokens, messages]),
  })
  return { live, seen }
}

/** Request and result of a manual compaction. */
const compacted: Observer = async (settings) => {
  const { live, seen } = await engineSession(settings)
  const done = await live.compact()
  return [done.type, seen()]
}

/** Does the same with a model that fails. */
const compactedAlone: Observer = async (settings) => {
  const failure: ModelFailure = { type: 'failed', reason: 'refused', message: 'no', tries: 1 }
  const { live } = await engineSession(settings, () => failure)
  return (await live.compact()).type
}

/** The next request if the window is full. */
const full: Observer = async (settings) => {
  const { live, seen } = await engineSession({ contextWindow: 12_000, maxOutputTokens: 1_000, ...settings })
  live.add({ role: 'user', content: 'And now?' })
  const prepared = await live.prepare()
  return [prepared.type, prepared.type === 'ready' ? prepared.body : undefined, seen()]
}

/** The next request if the window has room. */
const roomy: Observer = async (settings) => {
  const { live } = await engineSession(settings)
  live.add({ role: 'user', content: 'And now?' })
  const prepared = await live.prepare()
  return prepared.type === 'ready' ? prepared.body : prepared
}

const observers: readonly (readonly [path: string, one: unknown, other: unknown, observer: Observer])[] = [
  ['compaction', 'auto', 'manual', explained],
  ['autoCompactAt', 50_000, '40%', explained],
  ['contextWindow', 100_000, 150_000, explained],
  ['maxOutputTokens', 4_000, 9_000, explained],
  ['blockingLimit', 90_000, 95_000, explained],
  ['warningDistance', 5_000, 9_000, explained],
  ['errorDistance', 5_000, 9_000, explained],
  ['estimator', 'fitted', 'chars/4', explained],
  ['recall', true, false, compacted],
  ['keep', 0, 2, full],
  ['isAutonomous', true, false, full],
  ['cacheMarks', '5m', false, roomy],
  ['summary.model', 'claude-haiku-4-5', 'claude-sonnet-4-5', compacted],
  ['summary.shareCache', true, false, compacted],
  ['summary.offline', 'always', 'never', compactedAlone],
  ['summary.handoverTokens', 1_500, 9_000, compacted],
  ['summary.summaryTokens', 500, 4_000, compacted],
  ['reductions.microCompact', false, 'always', reduced],
  ['reductions.weigh', true, false, reduced],
  ['reductions.reproducible', [], ['MyTool'], reduced],
  ['reductions.toolKinds', {}, { MyTool: 'read' }, reduced],
  ['reductions.boundThinking', 'delegate', 'decline', reduced],
  ['reductions.keepFinished', true, false, reduced],
  ['reductions.clearInputs', true, false, reduced],
  ['reductions.bySize.keep', 1, 9, reduced],
  ['reductions.bySize.target', 1_000, 30_000, reduced],
  ['reductions.bySize.minFreed', 1, 500_000, reduced],
  ['reductions.byIdle.minutes', 5, 30, reduced],
  ['reductions.byIdle.keep', 1, 6, reduced],
  ['reductions.byCacheEdit.trigger', 1, 40, reduced],
  ['reductions.byCacheEdit.keep', 1, 6, reduced],
  ['reductions.native.toolResults', true, false, reduced],
  ['reductions.native.toolInputs', true, false, reduced],
  ['reductions.native.thinking', true, false, reduced],
  ['reductions.native.trigger', 1_000, 100_000, reduced],
  ['reductions.native.keepTokens', 1_000, 30_000, reduced],
  ['reductions.native.clearAtLeast', 1, 30_000, reduced],
  ['reductions.native.idleMinutes', 5, 60, reduced],
]

describe('a value changes what a session does:', () => {
  test.for(observers)('%s', async ([path, one, other, observer]) => {
    const first = await observer(settingsWith(path, one))
    expect(await observer(settingsWith(path, one))).toEqual(first)
    expect(await observer(settingsWith(path, other))).not.toEqual(first)
  })
})

/** Settings whose effect is tested only next to the code that uses them. */
const unobserved: readonly string[] = [
  ...['askTimeoutMs', 'background', 'collapse', 'compactWhenIdle', 'economy', 'target'],
  ...['summary.boundThinking', 'summary.restoreTokens', 'summary.serverCompaction'],
  ...['isOn', 'minTokens', 'growth', 'toolCalls'].map((name) => `sessionMemory.${name}`),
  ...['minTokens', 'maxTokens', 'minMessages'].map((name) => `sessionMemory.keep.${name}`),
]

test('every setting has an observer or is listed', () => {
  const observed = observers.map(([path]) => path)
  expect([...observed, ...unobserved].toSorted()).toEqual([...rows].toSorted())
})

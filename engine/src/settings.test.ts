// docs/settings.md has a row for each setting, with its default.
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { type CompactionSettings, defaultCompaction } from './core/compaction/job.ts'
import { defaultReductions } from './core/mechanisms/settings.ts'
import { defaultKeep } from './core/memory/plan.ts'
import { defaultMemory } from './core/memory/trigger.ts'
import { isObject } from './core/message/json.ts'
import { type EngineSettings, patience, targetShare } from './core/session/settings.ts'

type Group = 'summary' | 'reductions' | 'sessionMemory'

/** The compiler asks for a setting that is missing here. A text stands for a default that depends on something. */
const single: { readonly [Name in Exclude<keyof EngineSettings, Group>]-?: unknown } = {
  compaction: 'auto',
  keep: 0,
  target: targetShare({}),
  economy: 'default',
  collapse: false,
  background: false,
  askTimeoutMs: patience({}),
  recall: false,
  isAutonomous: false,
  contextWindow: 'the model’s',
  maxOutputTokens: 'the model’s',
  autoCompactWindow: 'the window',
  autoCompactAt: 'the threshold',
  autoCompactPercent: 'the threshold',
  blockingLimit: 'the effective window less 3,000',
  warningDistance: '20,000, or a quarter of the limit',
  errorDistance: '20,000, or a quarter of the limit',
  cacheMarks: '5m',
  estimator: 'fitted',
}

const { targetShare: _, ...compaction } = defaultCompaction
const summary: Record<keyof Required<Omit<CompactionSettings, 'targetShare'>>, unknown> = {
  ...compaction,
  model: 'the conversation’s',
  handoverTokens: '12,000, by the window',
}
const { recall: __, ...reductions } = defaultReductions
const groups = { summary, reductions, sessionMemory: { ...defaultMemory, keep: defaultKeep } }

/** Settings whose value is an object of the host's own. */
const whole = ['reductions.toolKinds']

function rowsOf(settings: object, prefix = ''): readonly string[] {
  return Object.entries(settings).flatMap(([name, value]) => {
    const path = `${prefix}${name}`
    if (isObject(value) && !whole.includes(path)) return rowsOf(value, `${path}.`)
    if (typeof value === 'number') return `${path} | ${value.toLocaleString('en')}`
    return `${path} | ${typeof value === 'string' ? value : JSON.stringify(value)}`
  })
}

test('docs/settings.md lists every setting with its default', () => {
  const text = readFileSync(new URL('../../docs/settings.md', import.meta.url), 'utf8')
  const listed = [...text.matchAll(/^\| `([\w.]+)` \| [^|]+ \| ([^|]+) \| [^|]+ \|$/gm)]
  const rows = listed.map(([, path, standard]) => `${path} | ${standard}`)
  expect(rows.toSorted()).toEqual([...rowsOf(single), ...rowsOf(groups)].toSorted())
})

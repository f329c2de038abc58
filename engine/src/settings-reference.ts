// Every setting of an engine with its type, default and meaning: what docs/settings.md is written from. The compiler refuses
// a setting that has no row here, and a row without a setting.
import { type CompactionSettings, defaultCompaction } from './core/compaction/job.ts'
import { defaultReductions, type ReductionSettings } from './core/mechanisms/settings.ts'
import { defaultKeep, type MemoryKeep } from './core/memory/plan.ts'
import { defaultMemory, type MemorySettings } from './core/memory/trigger.ts'
import { type EngineSettings, patience, targetShare } from './core/session/settings.ts'

export type SettingRow = {
  readonly type: string
  readonly default: unknown
  readonly what: string
  readonly environment?: readonly string[]
}

type Group = 'bySize' | 'byIdle' | 'byCacheEdit' | 'native'
type Reductions = Omit<ReductionSettings, 'recall'>
type SettingPath =
  | Exclude<keyof EngineSettings, 'summary' | 'reductions' | 'sessionMemory'>
  | `summary.${Exclude<keyof CompactionSettings, 'targetShare'>}`
  | `reductions.${Exclude<keyof Reductions, Group>}`
  | { [Name in Group]: `reductions.${Name}.${keyof Reductions[Name] & string}` }[Group]
  | `sessionMemory.${keyof MemorySettings}`
  | `sessionMemory.keep.${keyof MemoryKeep}`

type Rows<Path extends string> = { readonly [Name in Path]: SettingRow }

const row = (type: string, standard: unknown, what: string, ...environment: readonly string[]): SettingRow => ({
  type,
  default: standard,
  what,
  ...(environment.length > 0 ? { environment } : {}),
})

const tokens = 'tokens'
const flag = 'boolean'
const { bySize, byIdle, byCacheEdit, native } = defaultReductions

const compaction: Rows<Exclude<SettingPath, `${string}.${string}`>> = {
  compaction: row(
    'string',
    'auto',
    'When the context is compacted. `auto`: at the threshold, and when the provider says that the prompt is too long. `ask`: the same, after the engine’s `ask` agreed. `reactive`: only when the provider says so. `manual`: only `session.compact()`. `off`: never, and nothing is cleared.',
    'DISABLE_COMPACT=1 (off)',
    'DISABLE_AUTO_COMPACT=1 (manual)',
  ),
  keep: row(
    'number, or `{ tokens }`',
    0,
    'The newest messages that an automatic compaction keeps word for word, at most half of what it must get below.',
  ),
  target: row('share', targetShare({}), 'A compaction must get below this share of the threshold.'),
  economy: row(
    'string',
    'usual',
    '`thrifty` compacts and clears where the whole session costs the least ([cost.md](cost.md)).',
  ),
  collapse: row(
    flag,
    false,
    'Finished parts are summarized in the background and replaced when the context is full ([collapse.md](collapse.md)).',
    'CLAUDE_CONTEXT_COLLAPSE=1',
  ),
  background: row(
    'boolean, or `{ from: share }`',
    false,
    'Prepare a compaction while work goes on, from this share of the threshold on; `true` is 0.8.',
  ),
  askTimeoutMs: row('milliseconds', patience({}), 'How long `ask` may take. No answer means no.'),
  recall: row(flag, false, 'The agent has the recall tool: what leaves the context says how to read it again.'),
  isAutonomous: row(flag, false, 'The agent works by itself: after a compaction the work goes on.'),
  contextWindow: row(tokens, 'the model’s', 'The window of the model.'),
  maxOutputTokens: row(tokens, 'the model’s', 'What an answer may take; room for a summary is kept from it.'),
  autoCompactWindow: row(
    tokens,
    'the window',
    'Makes the window smaller, to try things out.',
    'EVERLONG_AUTO_COMPACT_WINDOW',
    'CLAUDE_CODE_AUTO_COMPACT_WINDOW',
  ),
  autoCompactAt: row(
    'tokens, `"80%"`, or either by model',
    'the threshold',
    'Compact earlier than the default. By model, the longest prefix of its id counts.',
  ),
  autoCompactPercent: row(
    'percent',
    'the threshold',
    'The same as a percentage of the effective window. The earliest counts.',
    'EVERLONG_AUTOCOMPACT_PCT',
    'CLAUDE_AUTOCOMPACT_PCT_OVERRIDE',
  ),
  blockingLimit: row(
    tokens,
    'the effective window less 3,000',
    'From this size on no request is sent.',
    'EVERLONG_BLOCKING_LIMIT',
    'CLAUDE_CODE_BLOCKING_LIMIT_OVERRIDE',
  ),
  warningDistance: row(tokens, '20,000, or a quarter of the limit', 'How far before the limit the gauge turns yellow.'),
  errorDistance: row(tokens, '20,000, or a quarter of the limit', 'How far before the limit the gauge turns red.'),
  cacheMarks: row('string', '5m', 'Marks for the prompt cache: `5m`, `1h`, or `false` for none.'),
  estimator: row('string', 'fitted', 'How tokens are estimated ([tokens.md](tokens.md)).'),
}

const summary: Rows<Extract<SettingPath, `summary.${string}`>> = {
  'summary.model': row(
    'string',
    'the conversation’s',
    'A model that only summarizes; the conversation’s cache cannot be shared then.',
  ),
  'summary.shareCache': row(
    flag,
    defaultCompaction.shareCache,
    'Ask for the summary behind the conversation’s own request, so that its prompt cache is used.',
  ),
  'summary.offline': row(
    'string',
    defaultCompaction.offline,
    'When no model could write a summary, write one without: `always`, only after an `overflow`, or `never`.',
  ),
  'summary.summaryTokens': row(tokens, defaultCompaction.summaryTokens, 'What the model is told its summary may use.'),
  'summary.offlineTokens': row(tokens, defaultCompaction.offlineTokens, 'A summary that is written without a model.'),
  'summary.userTokens': row(
    tokens,
    defaultCompaction.userTokens,
    'User messages that are added because the summary lacks them.',
  ),
  'summary.restoreTokens': row(tokens, defaultCompaction.restoreTokens, 'Restored context, all kinds together.'),
  'summary.boundThinking': row(
    'string',
    defaultCompaction.boundThinking,
    'Thinking in kept messages on a model that binds it to the prefix: `remove` it, or `decline` the compaction.',
  ),
  'summary.serverCompaction': row(
    'string',
    defaultCompaction.serverCompaction,
    '`on-demand` asks for the provider’s own compaction first, where it offers one.',
  ),
}

const reductions: Rows<Extract<SettingPath, `reductions.${string}`>> = {
  'reductions.microCompact': row(
    '`false` or string',
    defaultReductions.microCompact,
    'Clear old tool results `above-warning`, `always`, or not at all (`false`).',
  ),
  'reductions.weigh': row(flag, defaultReductions.weigh, 'Clear only where it pays; `false` clears whatever it costs.'),
  'reductions.reproducible': row(
    'string[]',
    defaultReductions.reproducible,
    'Tools, by name, whose results can be had again.',
  ),
  'reductions.toolKinds': row(
    'record',
    defaultReductions.toolKinds,
    'What your own tools do, by name; `null` for one that must not be taken for what it is called.',
  ),
  'reductions.boundThinking': row(
    'string',
    defaultReductions.boundThinking,
    'On a model that binds thinking to the prefix: let the server clear (`delegate`), `remove` the thinking, or `decline`.',
  ),
  'reductions.keepFinished': row(
    flag,
    defaultReductions.keepFinished,
    'The newest results stay after their turn has ended.',
  ),
  'reductions.clearInputs': row(
    flag,
    defaultReductions.clearInputs,
    'What a tool was given to write goes with its result.',
  ),
  'reductions.bySize.keep': row('results', bySize.keep, 'The newest that stay.'),
  'reductions.bySize.target': row(tokens, bySize.target, 'Tool results that may stay.'),
  'reductions.bySize.least': row(tokens, bySize.least, 'Less is not worth breaking the cache.'),
  'reductions.byIdle.minutes': row(
    'minutes',
    byIdle.minutes,
    'After a pause of this length the cache is cold and results go.',
  ),
  'reductions.byIdle.keep': row('results', byIdle.keep, 'The newest that stay.'),
  'reductions.byCacheEdit.trigger': row(
    'results',
    byCacheEdit.trigger,
    'From so many on, where the provider edits its cache.',
  ),
  'reductions.byCacheEdit.keep': row('results', byCacheEdit.keep, 'The newest that stay.'),
  'reductions.native.toolResults': row(
    flag,
    native.toolResults,
    'The server clears tool results. `native` is used only where it is set.',
  ),
  'reductions.native.toolInputs': row(flag, native.toolInputs, 'The server clears their inputs too.'),
  'reductions.native.thinking': row(flag, native.thinking, 'The server clears old thinking.'),
  'reductions.native.trigger': row(tokens, native.trigger, 'The size from which on the server clears.'),
  'reductions.native.keepTokens': row(tokens, native.keepTokens, 'What it leaves.'),
  'reductions.native.clearAtLeast': row(tokens, native.clearAtLeast, 'Less is not worth breaking the cache.'),
  'reductions.native.idleMinutes': row('minutes', native.idleMinutes, 'After this the last thinking turn is enough.'),
}

const sessionMemory: Rows<Extract<SettingPath, `sessionMemory.${string}`>> = {
  'sessionMemory.isOn': row(
    flag,
    defaultMemory.isOn,
    'Notes are taken in the background. `sessionMemory: false` is short for none.',
  ),
  'sessionMemory.first': row(tokens, defaultMemory.first, 'What the conversation must have before the first notes.'),
  'sessionMemory.growth': row(tokens, defaultMemory.growth, 'What it must have grown since the last.'),
  'sessionMemory.toolCalls': row(
    'calls',
    defaultMemory.toolCalls,
    'Tool calls since the last, unless the turn had none.',
  ),
  'sessionMemory.keep.tokens': row(
    tokens,
    defaultKeep.tokens,
    'What stays word for word at least when notes become the summary.',
  ),
  'sessionMemory.keep.mostTokens': row(tokens, defaultKeep.mostTokens, 'And at most.'),
  'sessionMemory.keep.messages': row('messages', defaultKeep.messages, 'Messages with text that stay at least.'),
}

export const settingsReference = { compaction, summary, reductions, sessionMemory }

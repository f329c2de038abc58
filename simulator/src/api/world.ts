// The state of one simulator: its options with defaults, its organizations, its log and meter.
import { type ModelFacts, modelFacts } from 'everlong/internal'
import { createPromptCache, type PromptCache } from '../cache/cache.ts'
import { createDiagnoses, type Diagnoses } from '../cache/diagnosis.ts'
import { defaultSummary } from '../context/default-summary.ts'
import { createLog, type RequestLog } from '../log/log.ts'
import { createMeter, type Meter } from '../log/meter.ts'
import { createStoredResponses, type StoredResponses } from '../openai/responses/stored.ts'
import type { OverflowShape } from '../overflow/overflow.ts'
import { type Clock, type Ids, seededIds, systemClock } from '../ports.ts'
import { createDigests, createTextDigest } from '../prompt/digest.ts'
import type { PromptPorts } from '../prompt/prompt.ts'
import { createTokenizer, type Tokenizer } from '../prompt/tokenizer.ts'
import { seededRandom } from '../script/random.ts'
import type { Answer, Script, ScriptRequest } from '../script/script.ts'
import { type BindingPorts, signatureOf } from '../thinking/binding.ts'
import { createSigner } from '../thinking/signature.ts'
import { createThreads, type Threads } from './threads.ts'

export type SimulatorOptions = {
  /** The model behind the API. */
  readonly script: Script
  /** Writes the summaries of server-side compaction; a plain deterministic one by default. */
  readonly summarizer?: Script
  /** Additional models, or replacements for the catalog's. */
  readonly models?: readonly ModelFacts[]
  /** Windows by model id, so that tests overflow with little text. */
  readonly windows?: Readonly<Record<string, number>>
  /** Whether a bound thinking block after a changed prefix is an error (accounts since 2026-08-31) or is only reported. */
  readonly enforcesBinding?: boolean
  /** Accepts thinking that another API signed, for replaying recorded conversations. */
  readonly acceptForeignSignatures?: boolean
  readonly clock?: Clock
  readonly ids?: Ids
  readonly seed?: number
  /** Milliseconds: before an answer begins, and before each event of a stream. None by default. */
  readonly latency?: { readonly first?: number; readonly perEvent?: number }
  /** Number of deltas between two pings. The first ping follows the start of the first block. */
  readonly pingEvery?: number
  /** Default wording of overflows. A header overrides it. */
  readonly overflow?: OverflowShape
  /** Maximum size of a body, in bytes. */
  readonly maxBodyBytes?: number
  /** Maximum number of log entries. */
  readonly logEntries?: number
}

export type Organization = {
  readonly name: string
  readonly cache: PromptCache
  readonly diagnoses: Diagnoses
  readonly threads: Threads
  readonly responses: StoredResponses
}

export type World = {
  readonly options: Required<Omit<SimulatorOptions, 'models' | 'windows' | 'ids' | 'latency'>> & {
    readonly latency: { readonly first: number; readonly perEvent: number }
  }
  readonly models: readonly ModelFacts[]
  readonly clock: Clock
  readonly ids: Ids
  readonly tokenizer: Tokenizer
  readonly log: RequestLog
  readonly meter: Meter
  readonly factsOf: (model: string) => ModelFacts | undefined
  /** The window from the options, if they set one for the model. */
  readonly windowOf: (model: string) => number | undefined
  readonly organization: (key: string) => Organization
  /** New for each request, because digests are cached by identity. */
  readonly ports: () => Ports
  readonly ask: (script: Script, request: ScriptRequest) => Promise<Answer>
}

export type Ports = PromptPorts & BindingPorts & { readonly ids: Ids }

const defaults = {
  summarizer: defaultSummary,
  enforcesBinding: true,
  acceptForeignSignatures: false,
  clock: systemClock,
  seed: 1,
  pingEvery: 100,
  overflow: 'anthropic',
  maxBodyBytes: 32 * 1024 * 1024,
  logEntries: 10_000,
} as const satisfies Partial<SimulatorOptions>

export function createWorld(given: SimulatorOptions): World {
  const options = { ...defaults, ...given, latency: { first: 0, perEvent: 0, ...given.latency } }
  const ids = given.ids ?? seededIds(options.seed)
  const tokenizer = createTokenizer()
  const signer = createSigner(options.seed)
  const textDigest = createTextDigest()
  const organizations = new Map<string, Organization>()
  return {
    options,
    models: given.models ?? [],
    clock: options.clock,
    ids,
    tokenizer,
    log: createLog(options.logEntries),
    meter: createMeter(),
    factsOf: (model) => withWindow(ownFacts(given.models, model) ?? modelFacts(model), model, given.windows),
    windowOf: (model) => given.windows?.[model],
    organization: (key) => {
      const known = organizations.get(key) ?? newOrganization(key)
      organizations.set(key, known)
      return known
    },
    ports: () => ({
      tokenizer,
      signer,
      ids,
      digest: createDigests(textDigest),
      hiddenTokens: (block) => {
        const claim = signer.peek(signatureOf(block))
        return claim?.kind === 'thinking' && claim.isHidden ? claim.tokens : undefined
      },
      enforced: options.enforcesBinding,
      acceptForeign: options.acceptForeignSignatures,
    }),
    ask: createAsk(options.seed, tokenizer),
  }
}

function newOrganization(name: string): Organization {
  return {
    name,
    cache: createPromptCache(),
    diagnoses: createDiagnoses(),
    threads: createThreads(),
    responses: createStoredResponses(),
  }
}

function ownFacts(models: readonly ModelFacts[] | undefined, model: string): ModelFacts | undefined {
  return models?.find((facts) => facts.id === model)
}

function withWindow(
  facts: ModelFacts | undefined,
  model: string,
  windows: SimulatorOptions['windows'],
): ModelFacts | undefined {
  const window = windows?.[model] ?? (facts && windows?.[facts.id])
  return facts && window !== undefined ? { ...facts, window } : facts
}

/** Each script counts its own turns, and each turn has its own random numbers, so parallel requests do not affect each other. */
function createAsk(seed: number, tokenizer: Tokenizer): World['ask'] {
  const turns = new WeakMap<Script, number>()
  return async (script, request) => {
    const turn = turns.get(script) ?? 0
    turns.set(script, turn + 1)
    const random = seededRandom('script', seed, turn)
    return script(request, { turn, random, countTokens: tokenizer.count })
  }
}

export type RequestContext = {
  readonly world: World
  readonly organization: Organization
  /** Arrival of the request. Cache lifetimes start then. */
  readonly started: number
}

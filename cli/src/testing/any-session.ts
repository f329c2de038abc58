// Sessions on disk that live through everything a session can live through, step by step, for properties: said, cleared,
// collapsed, compacted, snipped, pinned, rewound, switched, closed and reopened, by the API and by the command line.
// The clock runs, and jumps when a step lets time pass.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Block, type ModelAnswer, type ModelClient, offline } from 'everlong'
import { createEngine, type Session } from 'everlong/node'
import { everlong } from './harness.ts'

export const stepKinds = [
  'say',
  'say',
  'use-tools',
  'use-tools',
  'attach',
  'send',
  'send',
  'send',
  'send',
  'compact',
  'compact-from',
  'compact-up-to',
  'snip',
  'pin',
  'unpin',
  'rewind',
  'switch-model',
  'pause',
  'reopen',
  'undo',
  'command-undo',
  'command-micro',
  'command-snip',
  'command-pin',
  'command-rewind',
] as const

export type StepKind = (typeof stepKinds)[number]

/** `at` and `to` select from the entries that exist at that step. */
export type Step = { readonly kind: StepKind; readonly at: number; readonly to: number }

export type World = {
  readonly thinks: boolean
  readonly collapse: boolean
  /** What the model's server can omit: nothing, results of the cached prefix, or old tool uses; or there is no server. */
  readonly server: 'offline' | 'plain' | 'cache-edits' | 'context-management'
  /** Characters of a long text. With many of them, the file exceeds what its tail reader reads at once. */
  readonly length: number
  /** Turns before the first step. */
  readonly turns: number
}

type Json = Readonly<Record<string, unknown>>

const binding = 'claude-fable-5-1'
const plain = 'claude-opus-4-5'

export class LivedSession {
  readonly path: string
  /** The uuids of all messages. */
  readonly said = new Set<string>()
  /** The mechanisms that made the context smaller between two requests. */
  readonly reducedBy = new Set<string>()
  private readonly folder = mkdtempSync(join(tmpdir(), 'everlong-lived-'))
  private readonly world: World
  private session: Session | undefined
  private later = 0
  private count = 0

  constructor(world: World) {
    this.world = world
    this.path = join(this.folder, 'session.jsonl')
  }

  async begin(): Promise<void> {
    this.session = await this.engine().start({ path: this.path })
    // Only a nearly full context is collapsed, and only spans without much that a person typed.
    const { turns, collapse } = this.world
    for (let at = 0; at < turns; at++) {
      await this.take({ kind: collapse ? 'send' : 'use-tools', at, to: 0 })
      await this.take({ kind: 'send', at, to: 0 })
    }
  }

  async open(): Promise<Session> {
    this.session ??= await this.engine().open(this.path)
    return this.session
  }

  async close(): Promise<void> {
    await this.session?.close()
    this.session = undefined
  }

  async remove(): Promise<void> {
    await this.close()
    rmSync(this.folder, { recursive: true, force: true })
  }

  records(): readonly Json[] {
    const lines = readFileSync(this.path, 'utf8').split('\n')
    return lines.filter((line) => line !== '').map((line) => JSON.parse(line))
  }

  /** Runs a command while the session is not open. */
  async command(...words: readonly string[]): Promise<number> {
    await this.close()
    const [name = '', ...rest] = words
    const ran = await everlong([name, this.path, ...rest], { now: () => this.now() })
    if (ran.exitCode === 2 || ran.stderr.includes('should not have happened')) throw new Error(ran.stderr)
    return ran.exitCode
  }

  async take({ kind, at, to }: Step): Promise<void> {
    if (kind.startsWith('command-')) return this.takeCommand(kind, at, to)
    const session = await this.open()
    const shown = session.messages()
    const pick = (n: number) => shown[n % Math.max(1, shown.length)]?.uuid ?? 'none'
    switch (kind) {
      case 'say':
        this.add(session, { role: 'user', content: this.question() })
        this.record(session, [{ type: 'text', text: this.text('Answer') }])
        return
      case 'use-tools':
        return this.useTools(session, 1 + (at % 3))
      case 'attach':
        return this.add(session, { role: 'user', content: this.text('Context'), origin: 'attachment' })
      case 'send': {
        this.add(session, { role: 'user', content: this.question() })
        const turn = await session.send()
        if (turn.type === 'answered') this.said.add(turn.uuid)
        await session.idle()
        return
      }
      case 'compact':
        return void (await session.compact())
      case 'compact-from':
        return void (await session.compact({ from: pick(at) }))
      case 'compact-up-to':
        return void (await session.compact({ upTo: pick(at) }))
      case 'snip':
        return void (await session.snip({ from: pick(at), to: pick(at + (to % 5)) }))
      case 'pin':
        return void (await session.pin(this.anyEntry(at)))
      case 'unpin':
        return void (await session.unpin(this.anyEntry(at)))
      case 'rewind':
        return void (await session.rewind(this.anyEntry(at)))
      case 'switch-model':
        return void (await session.useModel({ client: this.client(), name: at % 2 ? binding : plain }))
      case 'pause':
        this.later += 3 * 3_600_000
        return this.take({ kind: 'send', at, to })
      case 'undo':
        return void (await session.undo())
      case 'reopen':
        return this.close()
    }
  }

  private async takeCommand(kind: string, at: number, to: number): Promise<void> {
    const shown = (await this.open()).messages()
    const pick = (n: number) => shown[n % Math.max(1, shown.length)]?.uuid ?? 'none'
    if (kind === 'command-undo') await this.command('undo')
    if (kind === 'command-micro') await this.command('micro', '--apply', '--always', '--target', '1', '--least', '1')
    if (kind === 'command-snip') await this.command('snip', pick(at), pick(at + (to % 5)))
    if (kind === 'command-pin') await this.command('pin', this.anyEntry(at))
    if (kind === 'command-rewind') await this.command('rewind', this.anyEntry(at))
  }

  private now(): number {
    return Date.now() + this.later
  }

  private engine() {
    const { collapse, server } = this.world
    return createEngine({
      model: server === 'offline' ? { ...offline(), model: this.modelName() } : this.client(),
      environment: {},
      files: { read: async () => ({ type: 'missing' }) },
      ports: { now: () => this.now() },
      onEvent: (event) => {
        if (event.type === 'micro-compacted') this.reducedBy.add(event.mechanism)
      },
      settings: {
        contextWindow: 30_000,
        maxOutputTokens: 2_000,
        collapse,
        sessionMemory: {
          isOn: true,
          minTokens: 500,
          growth: 500,
          toolCalls: 1,
          keep: { minTokens: 200, minMessages: 1 },
        },
        reductions: {
          microCompact: collapse ? false : 'always',
          weigh: false,
          clearInputs: true,
          boundThinking: 'remove',
          bySize: { keep: 1, target: 300, minFreed: 50 },
          byIdle: { minutes: 60, keep: 1 },
          byCacheEdit: { trigger: 3, keep: 1 },
        },
      },
    })
  }

  private modelName(): string {
    return this.world.thinks ? binding : plain
  }

  /** Answers at once and briefly; summaries and notes in the requested form. */
  private client(): ModelClient {
    const { server } = this.world
    return {
      provider: 'anthropic',
      model: this.modelName(),
      capabilities: () => ({
        cacheEdits: server === 'cache-edits',
        contextManagement: server === 'context-management',
        compaction: 'none',
        promptCache: true,
        offline: false,
      }),
      send: async ({ source, messages, model }): Promise<ModelAnswer> => {
        const text =
          source === 'session-memory'
            ? '<section name="Current state">\nThe queue is being drained.\n</section>'
            : source === 'compact'
              ? '<summary>\n1. Primary Request and Intent:\n   Go on.\n</summary>'
              : source === 'turn'
                ? this.text('Done')
                : 'It was looked into.'
        const input = Math.ceil(JSON.stringify(messages).length / 3)
        return {
          type: 'answer',
          id: `msg_${++this.count}`,
          model: model ?? this.modelName(),
          content: this.withThought([{ type: 'text', text }]),
          stopReason: 'end_turn',
          usage: { input, output: 5, cacheRead: 0, cacheWrite: 0, cacheWriteHour: 0 },
        }
      },
    }
  }

  private text(word: string, length = this.world.length): string {
    const nth = ++this.count
    return `${word} ${nth}. ${`Line ${nth} of the log says that all is well.\n`.repeat(length / 40)}`
  }

  /** A person's messages are shorter. */
  private question(): string {
    return this.text('Question', this.world.length / 20)
  }

  /** Any entry of the file: message or edit, in the view or removed long ago. */
  private anyEntry(at: number): string {
    const uuids = this.records().flatMap(({ uuid }) => (typeof uuid === 'string' ? [uuid] : []))
    return uuids[at % Math.max(1, uuids.length)] ?? 'none'
  }

  private withThought(blocks: readonly Block[]) {
    const thought = { type: 'thinking', thinking: 'Hm.', signature: 'c2lnbmF0dXJl' }
    return this.world.thinks ? [thought, ...blocks] : blocks
  }

  private add(session: Session, message: Parameters<Session['add']>[0]): void {
    for (const uuid of session.add(message)) this.said.add(uuid)
  }

  private record(session: Session, blocks: readonly Block[]): void {
    const content = this.withThought(blocks)
    this.said.add(session.record({ id: `msg_${++this.count}`, model: this.modelName(), content }))
  }

  private useTools(session: Session, calls: number): void {
    const uses = Array.from({ length: calls }, () => `toolu_${++this.count}`)
    this.add(session, { role: 'user', content: this.question() })
    this.record(
      session,
      uses.map((id, at) => ({
        type: 'tool_use',
        id,
        name: at === 1 ? 'Write' : 'Read',
        input: { file_path: `/p/${id}` },
      })),
    )
    const results = uses.map((id) => ({ type: 'tool_result', tool_use_id: id, content: this.text('Result') }))
    this.add(session, { role: 'user', content: results })
  }
}

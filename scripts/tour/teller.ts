// Tells the tour's story as a session: keeps the files of the made-up project, the size of its context and the lines
// of the last answer, so that the story itself reads as a story.

import type { JsonObject } from 'everlong/internal'
import {
  editCall,
  type FileText,
  fileRecord,
  Meter,
  random,
  readCall,
  type SessionBuilder,
  session,
  type Todo,
  type ToolCall,
  textBlock,
  thinkingBlock,
  todoCall,
  toolUseBlock,
  writeCall,
} from 'everlong/internal/testing'
import { cwd } from './files.ts'

export type CompactionStory = {
  readonly trigger: 'auto' | 'manual'
  readonly summary: string
  /** Keep the last answer and its results. */
  readonly isKeeping?: boolean
  /** What the human typed after /compact. */
  readonly instructions?: string
  /** Files the client shows again. */
  readonly shown: readonly string[]
}

const sessionId = '5b0f4c1e-6d0a-4f7e-9a51-0c2d7be1f3a9'

export class Teller {
  private readonly chance = random(2026)
  private readonly names = new Map<string, string>()
  private readonly builder: SessionBuilder
  private readonly meter = new Meter({ random: this.chance })
  private readonly files = new Map<string, string>()
  private todos: readonly Todo[] = []
  private lastAnswer = 0
  private dropped = 0
  private prompted = ''
  private promptId = ''
  private title = ''

  constructor(files: Readonly<Record<string, string>>) {
    for (const [path, content] of Object.entries(files)) this.files.set(`${cwd}/${path}`, content)
    const startTime = '2026-03-02T08:41:00.000Z'
    this.builder = session({ style: '2.1-late', sessionId, cwd, startTime, ids: (name) => this.id(name) })
  }

  get text(): string {
    return this.builder.text
  }

  named(title: string): this {
    this.title = title
    return this
  }

  prompt(text: string): this {
    this.prompted = text
    this.promptId = this.chance.uuid()
    this.meter.heard(text.length)
    const origin = { permissionMode: 'acceptEdits', origin: { kind: 'human' }, promptSource: 'typed' }
    this.builder.wait(40).user(text, { promptId: this.promptId, fields: origin })
    return this
  }

  /** An answer that calls tools, with or without a word before, and what they gave. */
  calls(text: string, ...calls: readonly ToolCall[]): this {
    this.lastAnswer = this.builder.records.length
    const open = calls.map((call) => ({ call, id: `toolu_01${this.chance.hex(22)}` }))
    this.answer([
      ...(calls.length > 1 ? [thinkingBlock('', this.chance.hex(160))] : []),
      ...(text === '' ? [] : [textBlock(text)]),
      ...open.map(({ call, id }) => ({ ...toolUseBlock(id, call.name, call.input), caller: { type: 'direct' } })),
    ])
    for (const { call, id } of open) {
      const { content, toolUseResult, isError } = call
      this.meter.heard(typeof content === 'string' ? content.length : JSON.stringify(content).length)
      this.builder.wait(2).toolResult(id, content, { toolUseResult, isError, promptId: this.promptId })
    }
    return this
  }

  /** The answer that ends the turn, and what the client notes after it. */
  reply(text: string): this {
    this.answer([textBlock(text)])
    const durationMs = 20_000 + this.builder.records.length * 700
    this.builder.system('turn_duration', { durationMs, messageCount: this.builder.records.length })
    const tail = { sessionId }
    this.builder
      .raw({ type: 'last-prompt', lastPrompt: this.prompted, leafUuid: this.builder.last, ...tail })
      .raw({ type: 'ai-title', aiTitle: this.title, ...tail })
      .raw({ type: 'permission-mode', permissionMode: 'acceptEdits', ...tail })
    return this
  }

  read(path: string): ToolCall {
    return readCall(this.file(path))
  }

  write(path: string, content: string): ToolCall {
    this.files.set(`${cwd}/${path}`, content)
    return writeCall(this.file(path))
  }

  edit(path: string, oldString: string, newString: string): ToolCall {
    const file = this.file(path)
    if (!file.content.includes(oldString)) throw new Error(`the story edits what is not in ${path}: ${oldString}`)
    this.files.set(
      file.path,
      file.content.replace(oldString, () => newString),
    )
    return editCall(file, { oldString, newString })
  }

  /** The whole list; so many of it are done, the next one is in hand. */
  plan(done: number, ...items: readonly string[]): ToolCall {
    const status = (index: number) => (index < done ? 'completed' : index === done ? 'in_progress' : 'pending')
    const next = items.map(
      (content, index): Todo => ({ content, status: status(index), activeForm: `Now: ${content}` }),
    )
    const call = todoCall(this.todos, next)
    this.todos = next
    return call
  }

  compact(story: CompactionStory): this {
    const recent = this.builder.records.slice(this.lastAnswer).filter((record) => typeof record.uuid === 'string')
    const kept = story.isKeeping ? recent.map((record) => String(record.uuid)) : []
    const { preTokens, postTokens } = this.meter.compacted(story.summary.length + kept.length * 900)
    this.dropped += preTokens - postTokens
    const metadata = { cumulativeDroppedTokens: this.dropped, durationMs: 41_300 }
    this.builder.wait(60).boundary({ trigger: story.trigger, preTokens, postTokens, kept, metadata })
    this.builder.summary(story.summary, { promptId: this.chance.uuid() })
    if (story.trigger === 'manual') this.echo(story.instructions ?? '')
    for (const path of story.shown) {
      const file = this.file(path)
      const content = { type: 'text', file: fileRecord(file) }
      this.meter.heard(file.content.length)
      this.builder.attachment('file', { filename: file.path, content, displayPath: path })
    }
    return this
  }

  private echo(instructions: string): void {
    const command = `<command-name>/compact</command-name>\n<command-message>compact</command-message>\n<command-args>${instructions}</command-args>`
    this.builder.user(command).user('<local-command-stdout>Compacted</local-command-stdout>')
  }

  private answer(blocks: readonly JsonObject[]): void {
    const tokens = this.meter.request(JSON.stringify(blocks).length)
    this.builder.wait(6).assistant(blocks, { tokens, model: 'claude-sonnet-4-5-20250929' })
  }

  private file(path: string): FileText {
    const full = `${cwd}/${path}`
    const content = this.files.get(full)
    if (content === undefined) throw new Error(`the story has no file ${path}`)
    return { path: full, content }
  }

  private id(name: string): string {
    const known = this.names.get(name)
    if (known !== undefined) return known
    const id = name.startsWith('m') ? `msg_01${this.chance.hex(22)}` : this.chance.uuid()
    this.names.set(name, id)
    return id
  }
}

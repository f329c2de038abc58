// One entry of a transcript in one line: its kind and its first words.
import { count, oneLine } from '@everlong/agent/render'
import type { Block, Entry } from 'everlong'
import { blocksOf, messagesOf, originOf, readAnswerLine, readHead, textOf } from 'everlong/internal'

export type DigestKind =
  | 'human'
  | 'assistant'
  | 'thinking'
  | 'tool-request'
  | 'tool-result'
  | 'summary'
  | 'attachment'
  | 'injected'

export type Digest = {
  readonly uuid: string | undefined
  readonly kind: DigestKind
  readonly text: string
  readonly isError: boolean
  readonly time: string | undefined
  readonly messageId: string | undefined
}

const maxText = 400

export function digestOf(entry: Entry): Digest {
  const { record } = entry
  const answer = readAnswerLine(record)
  return {
    uuid: readHead(entry).uuid,
    ...contentOf(entry),
    time: typeof record.timestamp === 'string' ? record.timestamp : undefined,
    messageId: answer?.messageId,
  }
}

/** Attachments that only the client reads are not part of the conversation. */
export function isSeen(entry: Entry): boolean {
  return entry.record.type !== 'attachment' || messagesOf([entry]).length > 0
}

type EntryText = Pick<Digest, 'kind' | 'text' | 'isError'>

function contentOf(entry: Entry): EntryText {
  const [message] = messagesOf([entry])
  const origin = message?.origin ?? originOf(entry.record)
  const blocks = blocksOf(message?.content)
  const text = () => firstWords(textOf(message?.content))
  switch (origin) {
    case 'assistant':
      return answerOf(blocks)
    case 'tool-result':
      return { kind: 'tool-result', text: text(), isError: blocks.some(({ is_error: isError }) => isError === true) }
    case 'summary':
      return {
        kind: 'summary',
        text: `${count(textOf(message?.content).length)} characters: ${text()}`,
        isError: false,
      }
    case 'attachment':
      return {
        kind: 'attachment',
        text: `${oneLine(message?.attachment ?? '')} ${fileOf(entry) ?? text()}`,
        isError: false,
      }
    case 'human':
      return { kind: 'human', text: text() || mediaOf(blocks), isError: false }
    default:
      return { kind: 'injected', text: text() || mediaOf(blocks), isError: false }
  }
}

/** The file an attachment shows, where it shows one. */
function fileOf({ record }: Entry): string | undefined {
  const attachment = record.attachment as Readonly<Record<string, unknown>> | undefined
  const name = attachment?.displayPath ?? attachment?.filename
  return typeof name === 'string' ? oneLine(name) : undefined
}

/** Usually a record has one block. If it has a whole answer, its text and calls are shown next to each other. */
function answerOf(blocks: readonly Block[]): EntryText {
  const words = firstWords(textOf(blocks))
  const calls = blocks.filter(({ type }) => type === 'tool_use').map(callInWords)
  if (calls.length > 0)
    return { kind: 'tool-request', text: [words, ...calls].filter((part) => part !== '').join('  '), isError: false }
  if (words !== '') return { kind: 'assistant', text: words, isError: false }
  const thought = blocks.find(({ type }) => type === 'thinking')
  if (thought) return { kind: 'thinking', text: firstWords(String(thought.thinking ?? '')), isError: false }
  return { kind: 'assistant', text: mediaOf(blocks), isError: false }
}

/** The input that identifies a call, under the names that well-known agents use. */
const tellingKeys = ['file_path', 'path', 'command', 'cmd', 'pattern', 'query', 'url', 'description', 'prompt']

function callInWords({ name, input }: Block): string {
  const values = typeof input === 'object' && input !== null ? (input as Readonly<Record<string, unknown>>) : {}
  const telling = [...tellingKeys.map((key) => values[key]), ...Object.values(values)]
  const found = telling.find((value) => typeof value === 'string' && value !== '')
  return `${oneLine(String(name ?? 'tool'))} ${firstWords(typeof found === 'string' ? found : '')}`.trim()
}

function mediaOf(blocks: readonly Block[]): string {
  return blocks.map(({ type }) => `[${oneLine(type)}]`).join(' ')
}

function firstWords(text: string): string {
  return oneLine(text.slice(0, maxText))
}

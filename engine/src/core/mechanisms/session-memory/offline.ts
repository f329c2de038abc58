// Notes without a model: the ledger rendered into the ten sections. Deterministic, and every line is a fact of the
// conversation or a quotation of it.
import type { Ledger } from '../../ledger/facts.ts'
import {
  commandLine,
  commitLine,
  constraintLine,
  decisionLine,
  errorLine,
  fileHead,
  repositoryLines,
  todoLine,
  urlLine,
} from '../../ledger/lines.ts'
import { oneLine } from '../../ledger/text.ts'
import { blocksOf, isText, textOf } from '../../message/block.ts'
import { isRequest, type ViewMessage } from '../../message/message.ts'
import { typedText } from '../../summary/human.ts'
import type { Update } from './notes.ts'

export type OfflineInput = {
  readonly messages: readonly ViewMessage[]
  readonly ledger: Ledger
  readonly countTokens: (text: string) => number
  readonly sectionTokens: number
}

export function offlineUpdates(input: OfflineInput): readonly Update[] {
  return Object.entries(sectionsOf(input)).map(([heading, lines]) => ({
    heading,
    body: within(lines, input),
  }))
}

/** As many lines as fit, the first ones first. */
function within(lines: readonly string[], { countTokens, sectionTokens }: OfflineInput): string {
  let count = lines.length
  while (count > 0 && countTokens(lines.slice(0, count).join('\n')) > sectionTokens) {
    count = Math.min(count - 1, Math.floor(count * 0.85))
  }
  return lines.slice(0, count).join('\n')
}

function sectionsOf({ messages, ledger }: OfflineInput): Readonly<Record<string, readonly string[]>> {
  const seen = messages.filter(({ origin }) => isRequest(origin)).map(({ content }) => textOf(content))
  // What was typed before the last compaction is in the ledger only.
  const human = [...new Set([...ledger.typed.map(({ text }) => typedText(text)), ...seen])]
  const newest = <T extends { readonly last: number }>(facts: readonly T[]) => facts.toSorted((a, b) => b.last - a.last)
  const isChecking = ({ purpose }: Ledger['commands'][number]) => purpose !== 'other' && purpose !== 'git'
  const commands = newest(ledger.commands)
  const open = ledger.todos.filter(({ status }) => status !== 'done')
  return {
    'Session title': human.slice(0, 1).map((text) => titleOf(text)),
    'Current state': [
      ...human.slice(-1).map((text) => `- Latest request: "${oneLine(text, 1200)}"`),
      ...lastWords(messages).map((text) => `- The assistant last said: "${oneLine(text, 600)}"`),
      ...open.map(todoLine),
    ],
    'Task specification': [
      ...newest(ledger.constraints).map(constraintLine),
      ...human.toReversed().map((text) => `- The user: "${oneLine(text, 600)}"`),
      ...newest(ledger.decisions.filter(({ by }) => by === 'human')).map(decisionLine),
    ],
    'Files and functions': newest(ledger.files).map(
      (file) => `${fileHead(file, { ranges: 3 })}${namesIn(ledger, file.path)}`,
    ),
    Workflow: [...commands.filter(isChecking), ...commands.filter((command) => !isChecking(command))].map(commandLine),
    'Errors & corrections': newest(ledger.errors).map(errorLine),
    'Codebase and system documentation': [...repositoryLines(ledger.repository), ...newest(ledger.urls).map(urlLine)],
    Learnings: newest(ledger.decisions.filter(({ by }) => by === 'assistant')).map(decisionLine),
    'Key results': commands.filter(isChecking).slice(0, 5).map(commandLine),
    Worklog: [
      ...newest(ledger.commits).map((commit) => commitLine(commit, ledger.repository.pushedLast)),
      ...ledger.todos.filter(({ status }) => status === 'done').map(todoLine),
    ],
  }
}

function titleOf(text: string): string {
  return oneLine(text, 200).split(' ').slice(0, 10).join(' ')
}

const namesShown = 12

function namesIn(ledger: Ledger, path: string): string {
  const names = ledger.names
    .filter(({ home }) => home.type === 'file' && home.name === path)
    .toSorted((a, b) => b.written - a.written || b.last - a.last)
    .slice(0, namesShown)
    .map(({ name }) => name)
  return names.length === 0 ? '' : `: ${names.join(', ')}`
}

function lastWords(messages: readonly ViewMessage[]): readonly string[] {
  const last = messages.findLast(({ origin, content }) => origin === 'assistant' && blocksOf(content).some(isText))
  return last
    ? [
        blocksOf(last.content)
          .filter(isText)
          .map(({ text }) => text)
          .join('\n'),
      ]
    : []
}

// Sessions in a temporary folder, and what a page would ask about them.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { offline } from 'everlong'
import { decodeLine, type JsonObject } from 'everlong/internal'
import { transcriptOfRecords } from 'everlong/internal/compaction'
import { session, toolUseBlock } from 'everlong/internal/testing'
import { createEngine } from 'everlong/node'
import { createSessionView, type SessionView } from '../data/session.ts'

export type Folder = {
  readonly path: string
  readonly write: (name: string, text: string) => string
  readonly remove: () => void
}

export function temporaryFolder(): Folder {
  const path = mkdtempSync(join(tmpdir(), 'everlong-view-'))
  return {
    path,
    write: (name, text) => {
      const file = join(path, name)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, text)
      return file
    },
    remove: () => rmSync(path, { recursive: true, force: true }),
  }
}

/** The view of a transcript's text, as the page gets it. */
export function viewOf(text: string | Iterable<JsonObject>): SessionView {
  const records = typeof text === 'string' ? text.split('\n').flatMap((line) => decodeLine(line).records) : [...text]
  return createSessionView({
    row: { id: '0123456789abcdef', path: 'session.jsonl', bytes: 0, modified: 0 },
    transcript: transcriptOfRecords(records, ''),
    before: (uuid) => transcriptOfRecords(records, '', uuid),
    env: {},
    now: () => 0,
    newId: () => 'new',
  })
}

/** A session that Everlong wrote and compacted, without a model. Returns its path. */
export async function ownSession(path: string): Promise<string> {
  const engine = createEngine({ model: offline() })
  const open = await engine.start({ path, system: 'You are brief.' })
  for (let turn = 1; turn <= 12; turn++) {
    open.add({
      role: 'user',
      content: `Step ${turn}. Never touch table_${turn}. ${'Some more words about it. '.repeat(60)}`,
    })
    open.add({ role: 'assistant', content: `Step ${turn} is done. ${'This is what I found out. '.repeat(120)}` })
  }
  const compacted = await open.compact()
  if (compacted.type !== 'compacted') throw new Error(JSON.stringify(compacted))
  open.add({ role: 'user', content: 'Go on.' })
  await open.close()
  return path
}

const question = 'Which database should the reports use?'

/** A session that lost something of every kind, with a summary that claims an approval nobody gave. */
export function lossySession(): string {
  const made = session({ cwd: '/home/dev/project' })
    .user('Migrate the reports. Never drop the table orders_2019. Ask me before you push anything.')
    .toolUse('t1', 'AskUserQuestion', { questions: [{ question }] })
    .toolResult('t1', `"${question}"="ClickHouse"`, { toolUseResult: { answers: { [question]: 'ClickHouse' } } })
    .toolUse('t2', 'Bash', { command: 'make import' })
    .toolResult('t2', 'Exit code 2\nError: checkpoint refused', { isError: true })
    .assistant('Identifiers need exactly twelve lowercase hexadecimal characters.')
    .toolUse('t3', 'Bash', { command: 'make import' })
    .toolResult('t3', `imported 12 rows into the warehouse table\n${'vacuum analyze finished\n'.repeat(2_000)}`)
    .toolUse('t4', 'Edit', { file_path: '/home/dev/project/src/forgotten.ts', old_string: 'a', new_string: 'b' })
    .toolResult('t4', 'The file has been updated.')
    .assistant([toolUseBlock('t5', 'Bash', { command: 'pytest checks/deep' })])
    .toolResult('t5', 'FAILED checks/deep/test_a.py', { isError: true })
    .assistant('One check fails.')
    .user('Translate every label into Danish.')
    .assistant('I begin with the menu.', { tokens: { cacheRead: 20_000, output: 100 } })
  return made
    .boundary({ preTokens: 20_100 })
    .summary(
      '1. **Work:**\n   - The import brought 12 rows into the warehouse table. The user approved deleting the staging bucket.\n2. **Next:**\n   - Go on.',
    )
    .attachment('file', {
      filename: 'src/reports.ts',
      content: { type: 'text', file: { content: 'export const reports = []' } },
    })
    .user('Go on.')
    .assistant('I go on.', { tokens: { cacheWrite: 9_000, output: 50 } }).text
}

// Writes docs/contexts: a made-up session, and the result of three compactions of it. A test fails if the files are stale. Run
// it: node examples/src/contexts/write.ts
import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Block, type Message, type ModelClient, offline, recorded } from 'everlong'
import { blocksOf, isText, isToolResult, isToolUse, textOf } from 'everlong/internal'
import { type Compaction, noHooks, runCompaction } from 'everlong/internal/compaction'
import { compactionJobAt, readTranscript } from 'everlong/internal/node'
import { madeUpSession } from './session.ts'
import { modelSummary } from './summary.ts'

export const folder = fileURLToPath(new URL('../../../docs/contexts/', import.meta.url))
export const sessionFile = `${folder}session.jsonl`

export function sessionText(): string {
  return madeUpSession()
    .records.map((record) => `${JSON.stringify(record)}\n`)
    .join('')
}

/** The text files by name, made from the session in the folder. */
export async function contexts(): Promise<Readonly<Record<string, string>>> {
  // It has a single summary, so a request for a shorter one gets none.
  const model = () => recorded({ summaries: [modelSummary] })
  return {
    'before.txt': shown(readTranscript(sessionFile).view.messages),
    'with-a-model.txt': await compacted({ model: model() }),
    'without-a-model.txt': await compacted({ model: offline() }),
    'small-budget.txt': await compacted({ model: model(), budget: 800 }),
  }
}

async function compacted({
  model,
  budget,
}: {
  readonly model: ModelClient
  readonly budget?: number
}): Promise<string> {
  let ids = 0
  const result = await runCompaction(
    { ...compactionJobAt(readTranscript(sessionFile), { budget }), transcriptPath: 'docs/contexts/session.jsonl' },
    {
      model,
      now: () => 0,
      newId: () => `id-${ids++}`,
      hooks: noHooks,
      emit: () => undefined,
      wait: async () => undefined,
    },
  )
  if (result.type === 'failed') throw new Error(`${result.reason}: ${result.why}`)
  return `${figures(result)}\n\n${shown(result.messages)}`
}

function figures({ tokens, mechanism, fidelity, composition }: Compaction): string {
  const { humanMessages } = fidelity
  return [
    `mechanism: ${mechanism}`,
    `tokens: ${tokens.before.toLocaleString('en')} before, ${tokens.after.toLocaleString('en')} after`,
    `composition: ${Object.entries(composition)
      .map(([part, count]) => `${part} ${count}`)
      .join(', ')}`,
    `user messages: ${humanMessages.total}, of them ${humanMessages.putIn} added by code`,
    `marked: ${fidelity.falseQuotes.length} quotations, ${fidelity.inferredApprovals.length} approvals, ${fidelity.contradicted.length} claims about state, ${fidelity.unsupported.length} names`,
  ].join('\n')
}

/** Messages as text. Long tool results are folded, because these pages are about the conversation. */
function shown(messages: readonly Message[]): string {
  return messages
    .map(({ role, content }) => `──── ${role}\n${blocksOf(content).map(blockText).join('\n')}\n`)
    .join('\n')
}

const maxLines = 12

function blockText(block: Block): string {
  if (isText(block)) return block.text
  if (isToolUse(block)) return `[calls ${block.name} ${JSON.stringify(block.input)}]`
  if (!isToolResult(block)) return `[${block.type}]`
  const lines = textOf(block.content ?? '').split('\n')
  const more = lines.length - maxLines
  return `[result]\n${lines.slice(0, maxLines).join('\n')}${more > 0 ? `\n[${more} more line${more === 1 ? '' : 's'}]` : ''}`
}

if (import.meta.main) {
  mkdirSync(folder, { recursive: true })
  writeFileSync(sessionFile, sessionText())
  for (const [name, text] of Object.entries(await contexts())) writeFileSync(`${folder}${name}`, text)
}

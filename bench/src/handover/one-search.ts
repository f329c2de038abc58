// What an agent finds with one search: for each question that the context leaves open, the ten best matches for its words
// among everything that was said and done before the compaction.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { serialize } from 'everlong/internal/testing'
import { openArchive } from 'everlong/node'
import type { Case } from '../fidelity/cases.ts'
import { inTemporaryFolder } from '../temporary-folder.ts'
import { gradeContext, type Probe } from './grade.ts'

export type OneSearch = {
  /** Questions that the context does not answer in full. */
  readonly open: number
  /** Of these, how many any single text of the conversation answers. Others need several texts. */
  readonly stated: number
  /** Of these, how many one of the ten best matches answers when it is read, of a call also its result. */
  readonly found: number
}

const cards = 10

export function oneSearch({ earlier, before }: Case, context: string, probes: readonly Probe[]): Promise<OneSearch> {
  const answered = (text: string, probe: Probe) => gradeContext(text, [probe])[0]?.score === 1
  const open = probes.filter((probe) => !answered(context, probe))
  const records = [...earlier, ...before].map(({ record }) => record)
  return inTemporaryFolder((folder) => {
    const path = join(folder, 'session.jsonl')
    writeFileSync(path, records.map(serialize).join(''))
    const archive = openArchive(path, { folder })
    const textOf = (id: string) => JSON.stringify(archive.read(id))
    const read = ({ id, kind, toolUseId }: ReturnType<typeof archive.search>['matches'][number]) =>
      kind === 'tool-use' && toolUseId !== undefined ? [textOf(id), textOf(toolUseId)] : [textOf(id)]
    const texts = records.flatMap(({ uuid }) => (typeof uuid === 'string' ? [textOf(uuid)] : []))
    const cardsFor = ({ question }: Probe) => archive.search({ words: question, limit: cards }).matches
    const found = open.filter((probe) =>
      cardsFor(probe)
        .flatMap(read)
        .some((text) => answered(text, probe)),
    )
    const stated = open.filter((probe) => texts.some((text) => answered(text, probe)))
    archive.close()
    return { open: open.length, stated: stated.length, found: found.length }
  })
}

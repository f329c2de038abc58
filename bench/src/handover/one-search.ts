// What an agent finds with one search: for each question that the context leaves open, the ten best matches for its words
// among everything that was said and done before the compaction.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serialize } from 'everlong/internal/testing'
import { openArchive } from 'everlong/node'
import type { Case } from '../fidelity/cases.ts'
import { gradeContext, type Probe } from './grade.ts'

export type OneSearch = {
  /** Questions that the context does not answer in full. */
  readonly open: number
  /** Of these, how many any single text of the conversation answers. Others need several texts. */
  readonly stated: number
  /** Of these, how many one of the ten best matches answers when it is read. */
  readonly found: number
}

const cards = 10

export function oneSearch({ earlier, before }: Case, context: string, probes: readonly Probe[]): OneSearch {
  const answered = (text: string, probe: Probe) => gradeContext(text, [probe])[0]?.score === 1
  const open = probes.filter((probe) => !answered(context, probe))
  const folder = mkdtempSync(join(tmpdir(), 'everlong-handover-'))
  try {
    const path = join(folder, 'session.jsonl')
    writeFileSync(path, [...earlier, ...before].map(({ record }) => serialize(record)).join(''))
    const archive = openArchive(path, { folder })
    const textOf = (id: string) => JSON.stringify(archive.read(id))
    const ids = [
      ...new Set([...earlier, ...before].flatMap(({ record: { uuid } }) => (typeof uuid === 'string' ? [uuid] : []))),
    ]
    const all = open.length === 0 ? [] : ids.map(textOf)
    const found = open.filter((probe) =>
      archive.search({ words: probe.question, limit: cards }).matches.some(({ id }) => answered(textOf(id), probe)),
    )
    const stated = open.filter((probe) => all.some((text) => answered(text, probe)))
    archive.close()
    return { open: open.length, stated: stated.length, found: found.length }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

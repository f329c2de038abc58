// `npm run bench -- viewer`: the page of `everlong view` in the system's Chromium, with sessions of 1, 10 and 100 MB and with 10,000
// sessions: how soon it shows something, how long a search takes, how smoothly it scrolls, and how much memory it needs. Next to it
// in the same run: a plain loop that parses the same file, and a page that only scrolls. `-- viewer 100` or `-- viewer list` measures only
// that part and keeps the stored figures of the others.
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { browserPath } from '@everlong/viewer/testing'
import { defineBenchmark, isMeasured, readFigures } from '../benchmark.ts'
import { median } from '../median.ts'
import { inTemporaryFolder } from '../temporary-folder.ts'
import { writeSession } from '../write-session.ts'
import { type ListFigures, measureList, measureSession, openViewer, type SessionFigures } from './measure.ts'
import { page, rounds, type ViewerReport, viewerTargets } from './page.ts'

const sizes = [1, 10, 100]
const sessionCount = 10_000

export const benchmark = defineBenchmark({ name: 'viewer', run, page, targets: viewerTargets })

const parts = [...sizes.map(String), 'list']

async function run(args: readonly string[]): Promise<ViewerReport | undefined> {
  const unknown = args.find((word) => !parts.includes(word))
  if (unknown !== undefined) {
    console.log(`There is no part "${unknown}". Parts: ${parts.join(', ')}.`)
    return undefined
  }
  if (browserPath === undefined) {
    console.log('There is no Chromium on this machine: install it, or name it in CHROMIUM.')
    return undefined
  }
  const isWanted = (part: string | number) => args.length === 0 || args.includes(String(part))
  const known = isMeasured('viewer') ? readFigures<ViewerReport>('viewer') : { sessions: [], list: undefined }
  return inTemporaryFolder(async (folder) => {
    const sessions = known.sessions.filter(({ megabytes }) => !isWanted(megabytes))
    for (const megabytes of sizes.filter(isWanted))
      sessions.push({ megabytes, ...(await sessionOf(folder, megabytes)) })
    const list = isWanted('list') ? { count: sessionCount, ...(await listOf(folder)) } : known.list
    return { node: process.versions.node, sessions: sessions.toSorted((a, b) => a.megabytes - b.megabytes), list }
  })
}

async function sessionOf(folder: string, megabytes: number) {
  const path = join(folder, `${megabytes}.jsonl`)
  writeSession(path, { seed: 1, targetBytes: megabytes * 1e6, boundaries: Math.ceil(megabytes / 3) })
  const measured: (SessionFigures & { readonly plainMs: number })[] = []
  for (let round = 0; round < rounds; round++) {
    const plainMs = plainLoop(path)
    const viewer = await openViewer(path, join(folder, 'cache'))
    measured.push({ plainMs, ...(await measureSession(viewer)) })
    await viewer.close()
  }
  return medians(measured)
}

/** The least that any reader has to do. */
function plainLoop(path: string): number {
  const began = performance.now()
  for (const line of readFileSync(path, 'utf8').split('\n')) if (line !== '') JSON.parse(line)
  return performance.now() - began
}

async function listOf(folder: string): Promise<ListFigures> {
  const place = join(folder, 'many')
  mkdirSync(place)
  for (let seed = 1; seed <= sessionCount; seed++) {
    const startTime = new Date(Date.UTC(2026, 0, 1) + seed * 1_800_000).toISOString()
    writeSession(join(place, `${seed}.jsonl`), { seed, turns: 3, boundaries: seed % 10 === 0 ? 1 : 0, startTime })
  }
  return measureList(await openViewer(place, join(folder, 'cache')))
}

function medians<Figures extends Readonly<Record<string, number>>>(measured: readonly Figures[]): Figures {
  const [first] = measured
  const names = Object.keys(first ?? {}) as (keyof Figures)[]
  return Object.fromEntries(names.map((name) => [name, median(measured.map((one) => one[name] ?? 0))])) as Figures
}

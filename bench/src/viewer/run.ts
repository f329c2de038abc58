// `npm run bench -- viewer`: the page of `everlong view` in the system's Chromium, with sessions of 1, 10 and 100 MB and with 10,000
// sessions: how soon it shows something, how long a search takes, how smoothly it scrolls, and how much memory it needs. Next to it
// in the same run: a plain loop that parses the same file, and a page that only scrolls.
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { browserPath } from '@everlong/viewer/testing'
import { defineBenchmark, type Page, type Target, table, targetTable } from '../benchmark.ts'
import { median } from '../median.ts'
import { inTemporaryFolder } from '../temporary-folder.ts'
import { writeSession } from '../write-session.ts'
import { type ListFigures, measureList, measureSession, openViewer, type SessionFigures } from './measure.ts'

const sizes = [1, 10, 100]
const rounds = 3
const sessionCount = 10_000

type ViewerReport = {
  readonly node: string
  readonly sessions: readonly (SessionFigures & { readonly megabytes: number; readonly plainMs: number })[]
  readonly list: ListFigures & { readonly count: number }
}

export const benchmark = defineBenchmark({ name: 'viewer', run, page, targets: viewerTargets })

async function run(): Promise<ViewerReport | undefined> {
  if (browserPath === undefined) {
    console.log('There is no Chromium on this machine: install it, or name it in CHROMIUM.')
    return undefined
  }
  return inTemporaryFolder(async (folder) => {
    const sessions = []
    for (const megabytes of sizes) sessions.push({ megabytes, ...(await sessionOf(folder, megabytes)) })
    return { node: process.versions.node, sessions, list: { count: sessionCount, ...(await listOf(folder)) } }
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
  const viewer = await openViewer(place, join(folder, 'cache'))
  const measured = await measureList(viewer)
  await viewer.close()
  return measured
}

function medians<Figures extends Readonly<Record<string, number>>>(measured: readonly Figures[]): Figures {
  const [first] = measured
  const names = Object.keys(first ?? {}) as (keyof Figures)[]
  return Object.fromEntries(names.map((name) => [name, median(measured.map((one) => one[name] ?? 0))])) as Figures
}

function viewerTargets({ sessions }: ViewerReport): readonly Target[] {
  const large = sessions.find(({ megabytes }) => megabytes === 100)
  if (!large) return []
  const { messagesMs, framesPerSecond, blankFramesPerSecond } = large
  return [
    {
      what: 'viewer: a session of 100 MB shows its messages',
      wanted: 'under 2 s',
      measured: seconds(messagesMs),
      met: messagesMs < 2_000,
    },
    {
      what: 'viewer: it scrolls as smoothly as a page without content',
      wanted: `60 frames per second (a page without content here: ${Math.round(blankFramesPerSecond)})`,
      measured: String(Math.round(framesPerSecond)),
      met: framesPerSecond >= Math.min(59, blankFramesPerSecond * 0.97),
    },
  ]
}

const seconds = (milliseconds: number) =>
  milliseconds < 1_000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1_000).toFixed(1)} s`

function viewerTables({ sessions, list }: ViewerReport) {
  return {
    sessions: table(
      ['', ...sessions.map(({ megabytes }) => `${megabytes} MB`)],
      [
        ['first paint', ...sessions.map(({ firstPaintMs }) => seconds(firstPaintMs))],
        ['messages', ...sessions.map(({ messagesMs }) => seconds(messagesMs))],
        ['chart', ...sessions.map(({ chartMs }) => seconds(chartMs))],
        ['lost facts', ...sessions.map(({ lostMs }) => seconds(lostMs))],
        ['find a word', ...sessions.map(({ findMs }) => seconds(findMs))],
        ['jump to the middle', ...sessions.map(({ jumpMs }) => seconds(jumpMs))],
        ['frames per second, scrolling', ...sessions.map((one) => one.framesPerSecond)],
        ['slowest frame of 20', ...sessions.map(({ slowFrameMs }) => `${Math.round(slowFrameMs)} ms`)],
        ['memory of the page', ...sessions.map((one) => `${Math.round(one.pageMegabytes)} MB`)],
        ['memory of the server', ...sessions.map((one) => `${Math.round(one.serverMegabytes)} MB`)],
        ['a plain loop over the file', ...sessions.map(({ plainMs }) => seconds(plainMs))],
      ],
    ),
    list: table(
      ['', `${list.count.toLocaleString('en')} sessions`],
      [
        ['first paint', seconds(list.firstPaintMs)],
        ['list', seconds(list.listMs)],
        ['all sessions read', seconds(list.readMs)],
        ['the next start: all sessions known', seconds(list.againMs)],
        ['filter', seconds(list.filterMs)],
        ['search all text, the first time', seconds(list.firstSearchMs)],
        ['search all text', seconds(list.searchMs)],
        ['frames per second, scrolling', list.framesPerSecond],
        ['memory of the page', `${Math.round(list.pageMegabytes)} MB`],
        ['memory of the server', `${Math.round(list.serverMegabytes)} MB`],
      ],
    ),
  }
}

function page(report: ViewerReport): Page {
  const { sessions, list } = viewerTables(report)
  return {
    title: 'The viewer',
    parts: [
      `Node ${report.node}, Chromium without a screen or graphics card, medians of ${rounds} rounds. Times count from the moment when the address is opened; nothing was read before.`,
      sessions,
      list,
      targetTable(viewerTargets(report)),
    ],
  }
}

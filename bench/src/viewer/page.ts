// What `npm run bench -- viewer` measured, as tables.
import { markdownTable, type Page, type Target, table, targetTable } from '../benchmark.ts'
import type { ListFigures, SessionFigures } from './measure.ts'

export const rounds = 3

export type ViewerReport = {
  readonly node: string
  readonly sessions: readonly (SessionFigures & { readonly megabytes: number; readonly plainMs: number })[]
  /** Undefined until it was measured: parts can be measured one at a time. */
  readonly list: (ListFigures & { readonly count: number }) | undefined
}

export function viewerTargets({ sessions }: ViewerReport): readonly Target[] {
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
    list:
      list &&
      table(
        ['', `${list.count.toLocaleString('en')} sessions`],
        [
          ['first paint', seconds(list.firstPaintMs)],
          ['list', seconds(list.listMs)],
          ['all sessions read', seconds(list.readMs)],
          ['all sessions read, at the next start', seconds(list.againMs)],
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

/** For docs/viewer.md. */
export function viewerFigures(report: ViewerReport): string {
  const { sessions, list } = viewerTables(report)
  return [sessions, ...(list ? [list] : [])].map(markdownTable).join('\n\n')
}

export function page(report: ViewerReport): Page {
  const { sessions, list } = viewerTables(report)
  return {
    title: 'The viewer',
    parts: [
      `Node ${report.node}, Chromium without a screen or graphics card, medians of ${rounds} rounds. Times count from the moment when the address is opened. The list has read the facts of a session before, in another thread; the session itself is read when its address is opened.`,
      sessions,
      list,
      targetTable(viewerTargets(report)),
    ],
  }
}

// The data of an exported file, as a source.
import type { ExportData } from '../data/api.ts'
import { type Source, SourceError } from './source.ts'

export function fileSource(data: ExportData): Source {
  const missing = () => Promise.reject(new SourceError('The exported file does not have this.'))
  const compactionAt = (number: number) => data.compactions.find((one) => one.data.row.number === number)
  return {
    overview: missing,
    session: async () => data.session,
    lost: async () => data.lost,
    window: async () => data.window,
    agents: async () => data.agents,
    items: async (_, from, count) => ({ from, items: data.items.slice(from, from + count) }),
    item: async (_, item) => data.items[item] ?? missing(),
    find: async (_, words) => findIn(data, words.toLowerCase()),
    place: async (_, uuid) => ({ item: data.items.find((item) => item.uuid === uuid)?.index ?? null }),
    compaction: async (_, number) => compactionAt(number)?.data ?? missing(),
    alternative: async (_, number) => compactionAt(number)?.alternative ?? missing(),
    search: missing,
    listen: () => () => undefined,
    only: data.session.row.id,
  }
}

/** In the texts as far as the file has them. */
function findIn({ items }: ExportData, wanted: string) {
  const found = items.flatMap(({ index, blocks }) => {
    const text = blocks
      .map((block) => `${block.tool ?? ''} ${block.text}`)
      .find((part) => part.toLowerCase().includes(wanted))
    return text === undefined ? [] : [{ item: index, snippet: text.slice(0, 120) }]
  })
  return { found, isComplete: true }
}

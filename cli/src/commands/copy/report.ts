// `everlong copy`: copies sessions between folders and databases. Never changes existing sessions.
import { count, visible } from '@everlong/agent/render'
import { StoreError } from 'everlong'
import { copySessions } from 'everlong/stores'
import { failed, gathered, type Outcome } from '../../outcome.ts'
import { facts, heading, type Screen } from '../../render/screen.ts'
import { checkedPlace, placeOf, type StorePlace } from '../../stores.ts'

export type CopyReport = Awaited<ReturnType<typeof copySessions>> & { readonly from: string; readonly to: string }

export async function gather(from: string, to: string): Promise<Outcome<CopyReport>> {
  const readable = checkedPlace(from)
  return readable.type === 'failed' ? readable : copied(from, to)
}

async function copied(from: string, to: string): Promise<Outcome<CopyReport>> {
  const places: StorePlace[] = []
  try {
    const source = placeOf(from)
    places.push(source)
    const target = placeOf(to)
    places.push(target)
    if (target.session !== undefined)
      return failed(`${visible(target.name)} is one session. Give a folder or a database.`)
    const chosen = source.session === undefined ? {} : { sessions: [source.session] }
    const counts = await copySessions({ from: source.store, to: target.store, ...chosen })
    if (counts.sessions + counts.skipped.length === 0)
      return failed(`There are no sessions at ${visible(source.name)}.`)
    return gathered({ from: source.name, to: target.name, ...counts })
  } catch (error) {
    if (error instanceof StoreError) return failed(visible(error.message))
    throw error
  } finally {
    for (const { store } of places) await store.close()
  }
}

export function render(report: CopyReport, screen: Screen): readonly string[] {
  const { from, to, sessions, records, skipped } = report
  return [
    heading(`Copied ${visible(from)} to ${visible(to)}`, screen),
    ...facts(
      [
        ['sessions', count(sessions)],
        ['records', count(records)],
        ['there already', count(skipped.length)],
      ],
      screen,
    ),
  ]
}

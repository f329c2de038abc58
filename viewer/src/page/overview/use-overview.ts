// The list of sessions, kept up to date: only what changed is asked for.
import { useEffect, useState } from 'react'
import type { Overview, SessionRow } from '../../data/api.ts'
import { type Loaded, troubleOf, useSource } from '../use-data.ts'

export type AllSessions = Pick<Overview, 'paths' | 'read' | 'total'> & { readonly sessions: readonly SessionRow[] }

export function useOverview(): Loaded<AllSessions> {
  const source = useSource()
  const [loaded, setLoaded] = useState<Loaded<AllSessions>>({ data: undefined, error: undefined, isLoading: true })
  useEffect(() => {
    const rows = new Map<string, SessionRow>()
    let version = 0
    let isAsking = false
    let isNews = true
    let isOver = false
    const ask = async () => {
      if (isAsking) return
      isAsking = true
      while (isNews && !isOver) {
        isNews = false
        const { sessions, gone, ...rest } = await source.overview(version)
        version = rest.version
        for (const id of gone) rows.delete(id)
        for (const row of sessions) rows.set(row.id, row)
        if (!isOver) setLoaded({ data: { ...rest, sessions: [...rows.values()] }, error: undefined, isLoading: false })
      }
      isAsking = false
    }
    const update = () =>
      ask().catch((error: unknown) => {
        isAsking = false
        setLoaded((known) => ({ ...known, error: troubleOf(error), isLoading: false }))
      })
    update()
    const stop = source.listen(undefined, (event) => {
      if (event !== 'overview') return
      isNews = true
      update()
    })
    return () => {
      isOver = true
      stop()
    }
  }, [source])
  return loaded
}

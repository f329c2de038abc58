// Loads data for a component, shows the old while the new is on its way, and tells what went wrong.
import { createContext, useContext, useEffect, useState } from 'react'
import type { Source } from './source.ts'

const SourceContext = createContext<Source | undefined>(undefined)
export const SourceProvider = SourceContext.Provider

export function useSource(): Source {
  const source = useContext(SourceContext)
  if (!source) throw new Error('No source')
  return source
}

export type Loaded<T> = {
  readonly data: T | undefined
  readonly error: string | undefined
  readonly isLoading: boolean
}

/** Loads again when the key changes. The data of another key is never shown; that of an older version is. */
export function useData<T>(key: string, load: () => Promise<T>, version = 0): Loaded<T> {
  const [state, setState] = useState<Loaded<T> & { readonly key: string }>({ key, ...nothing })
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key says what load() loads
  useEffect(() => {
    let isCurrent = true
    setState((known) => (known.key === key ? { ...known, isLoading: true } : { key, ...nothing }))
    load().then(
      (data) => isCurrent && setState({ key, data, error: undefined, isLoading: false }),
      (error: unknown) =>
        isCurrent &&
        setState((known) => ({
          ...known,
          key,
          error: troubleOf(error),
          isLoading: false,
        })),
    )
    return () => {
      isCurrent = false
    }
  }, [key, version])
  return state.key === key ? state : nothing
}

export function troubleOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

const nothing = { data: undefined, error: undefined, isLoading: true }

/** Grows whenever the session has changed. */
export function useVersion(session: string): number {
  const source = useSource()
  const [version, setVersion] = useState(0)
  useEffect(
    () => source.listen(session, (event) => event === 'session' && setVersion((known) => known + 1)),
    [source, session],
  )
  return version
}

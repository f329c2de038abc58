// The items of a conversation, loaded in pages as they come into view.
import { useEffect, useMemo, useState } from 'react'
import type { Item } from '../../data/api.ts'
import { useSource } from '../use-data.ts'

const pageSize = 100

/** Returns the item, or undefined while it is on its way. `version` loads again what may have changed. */
export function useItems(id: string, wanted: readonly number[], version: number): (index: number) => Item | undefined {
  const source = useSource()
  const [pages, setPages] = useState<ReadonlyMap<number, readonly Item[]>>(new Map())
  const asked = useMemo(() => new Map<number, number>(), [])
  const numbers = [...new Set(wanted.map((index) => Math.floor(index / pageSize)))]
  const key = numbers.join(' ')
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key says which pages are wanted
  useEffect(() => {
    for (const number of numbers) {
      if (asked.get(number) === version) continue
      asked.set(number, version)
      source.items(id, number * pageSize, pageSize).then(
        ({ items }) => setPages((known) => new Map([...known, [number, items]])),
        () => asked.delete(number),
      )
    }
  }, [key, version, id])
  return (index) => pages.get(Math.floor(index / pageSize))?.[index % pageSize]
}

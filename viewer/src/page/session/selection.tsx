// Items that the person selected: copied, or saved as a file.
import { useState } from 'react'
import type { Item } from '../../data/api.ts'
import { counted } from '../format.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { jsonLinesOf, markdownOf, save } from '../parts/save.ts'
import { useSource } from '../use-data.ts'

export type Selection = {
  readonly has: (item: number) => boolean
  /** With the shift key: everything from the item that was selected before. */
  readonly toggle: (item: number, how: { readonly isRange: boolean }) => void
  readonly items: readonly number[]
  readonly clear: () => void
}

/** `shown`: only these are part of a range. */
export function useSelection(shown: readonly number[]): Selection {
  const [selected, setSelected] = useState<ReadonlySet<number>>(new Set())
  const [last, setLast] = useState<number>()
  return {
    has: (item) => selected.has(item),
    toggle: (item, { isRange }) => {
      const [from, to] = isRange && last !== undefined ? [Math.min(last, item), Math.max(last, item)] : [item, item]
      const changed = shown.filter((one) => one >= from && one <= to)
      const next = new Set(selected)
      for (const one of changed) {
        if (selected.has(item)) next.delete(one)
        else next.add(one)
      }
      setSelected(next)
      setLast(item)
    },
    items: [...selected].toSorted((a, b) => a - b),
    clear: () => setSelected(new Set()),
  }
}

type SelectionBarProps = { readonly id: string; readonly selection: Selection }

export function SelectionBar({ id, selection: { items, clear } }: SelectionBarProps) {
  const source = useSource()
  if (items.length === 0) return null
  const whole = async (): Promise<readonly Item[]> => {
    const found: Item[] = []
    for (const item of items) found.push(await source.item(id, item))
    return found
  }
  return (
    <fieldset className="tabs selection" aria-label="Selection">
      <span role="status">{counted(items.length, 'item')} selected</span>
      <CopyButton text={async () => markdownOf(await whole())} label="Copy" />
      <button type="button" onClick={() => whole().then((found) => save('selection.md', markdownOf(found)))}>
        Save as Markdown
      </button>
      <button type="button" onClick={() => whole().then((found) => save('selection.jsonl', jsonLinesOf(found)))}>
        Save as JSON Lines
      </button>
      <button type="button" onClick={clear}>
        Clear
      </button>
      <span className="soft">Secrets that code recognizes are left out.</span>
    </fieldset>
  )
}

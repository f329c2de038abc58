// A whole message from the transcript where the person needs it, such as the original of something that a compaction left out.
import { useState } from 'react'
import type { Item } from '../../data/api.ts'
import { visible } from '../format.ts'
import { troubleOf, useSource } from '../use-data.ts'
import { CopyButton } from './copy-button.tsx'
import { markdownOf } from './save.ts'

type OriginalProps = {
  readonly id: string
  readonly item: number
  /** Default: the original. */
  readonly what?: string
}

export function Original({ id, item, what = 'the original' }: OriginalProps) {
  const source = useSource()
  const [shown, setShown] = useState<{ readonly item: Item } | { readonly error: string }>()
  const load = () =>
    source.item(id, item).then(
      (found) => setShown({ item: found }),
      (error: unknown) => setShown({ error: troubleOf(error) }),
    )
  return (
    <>
      <button
        type="button"
        className="plain"
        aria-expanded={shown !== undefined}
        onClick={() => (shown ? setShown(undefined) : load())}
      >
        {`${shown ? 'Hide' : 'Show'} ${what}`}
      </button>
      {shown && 'error' in shown ? (
        <p className="bad" role="alert">
          {shown.error}
        </p>
      ) : null}
      {shown && 'item' in shown ? (
        <div className="sources">
          <CopyButton text={() => markdownOf([shown.item])} label="Copy" />
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a text that scrolls must be reachable by keyboard */}
          <pre className="tall" tabIndex={0}>
            {visible(shown.item.blocks.map(({ text }) => text).join('\n'))}
          </pre>
        </div>
      ) : null}
    </>
  )
}

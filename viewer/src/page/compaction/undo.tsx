// Undo of a compaction that Everlong wrote, and of that undo.
import { useState } from 'react'
import type { CompactionRow } from '../../data/api.ts'
import { troubleOf, useSource } from '../use-data.ts'

type UndoProps = { readonly id: string; readonly row: CompactionRow }

/** `row` changes when the session does: then the question is answered. */
export function UndoButton({ id, row: { undo, isUndone } }: UndoProps) {
  const source = useSource()
  const [asked, setAsked] = useState('')
  const [said, setSaid] = useState('')
  if (undo === null || source.undo === undefined) return null
  const run = () => {
    setSaid('Writing …')
    source.undo?.(id, undo).then(
      () => {
        setSaid('')
        setAsked('')
      },
      (error: unknown) => setSaid(troubleOf(error)),
    )
  }
  if (asked !== undo)
    return (
      <button type="button" onClick={() => setAsked(undo)}>
        {isUndone ? 'Redo this compaction' : 'Undo this compaction'}
      </button>
    )
  return (
    <div className="card body row" role="alertdialog" aria-label="Are you sure?">
      <span>
        {isUndone
          ? 'The session continues from the summary again.'
          : 'The session continues with everything from before the compaction. Nothing is deleted, and you can redo it.'}
      </span>
      <button type="button" onClick={run}>
        {isUndone ? 'Redo' : 'Undo'}
      </button>
      <button type="button" onClick={() => setAsked('')}>
        Cancel
      </button>
      <span className="warn" role="status">
        {said}
      </span>
    </div>
  )
}

// Copies a text and says so.
import { useState } from 'react'
import { copy } from './save.ts'

type CopyButtonProps = { readonly text: () => string | Promise<string>; readonly label: string }

export function CopyButton({ text, label }: CopyButtonProps) {
  const [said, setSaid] = useState('')
  const run = async () => copy(await text())
  return (
    <button
      type="button"
      onClick={() =>
        run().then(
          () => setSaid('Copied'),
          () => setSaid('The browser did not allow it'),
        )
      }
    >
      <span role="status">{said || label}</span>
    </button>
  )
}

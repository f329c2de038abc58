// Copies a text and says so next to the button: inside it, screen readers would neither announce the message nor keep the button's name.
import { useState } from 'react'
import { copy } from './save.ts'

type CopyButtonProps = { readonly text: () => string | Promise<string>; readonly label: string }

export function CopyButton({ text, label }: CopyButtonProps) {
  const [said, setSaid] = useState('')
  const run = async () => {
    // A second copy is announced too.
    setSaid('')
    await copy(await text())
  }
  return (
    <span className="row">
      <button
        type="button"
        onClick={() =>
          run().then(
            () => setSaid('Copied'),
            () => setSaid('The browser did not allow it'),
          )
        }
      >
        {label}
      </button>
      <span role="status" className="soft">
        {said}
      </span>
    </span>
  )
}

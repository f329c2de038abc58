// The playground: paste a transcript or choose a file, and see it as `everlong view` shows it. It needs no server of ours.
import { StrictMode, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { browserSource } from './browser-source.ts'
import type { Source } from './source.ts'
import './style.css'

function Playground() {
  const [source, setSource] = useState<Source>()
  const [trouble, setTrouble] = useState('')
  const show = (text: string) => {
    try {
      setSource(browserSource(text))
    } catch (error) {
      setTrouble(error instanceof Error ? error.message : String(error))
    }
  }
  if (source) return <App source={source} />
  return (
    <main>
      <h1>Everlong playground</h1>
      <p>
        Choose a transcript of a coding agent (Claude Code keeps them in ~/.claude/projects), or paste one. It is read
        in this browser; nothing is sent anywhere.
      </p>
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault()
          show(String(new FormData(event.currentTarget).get('transcript') ?? ''))
        }}
      >
        <input
          type="file"
          aria-label="A transcript file"
          accept=".jsonl,.json"
          onChange={(event) => event.target.files?.[0]?.text().then(show)}
        />
        <textarea
          name="transcript"
          rows={14}
          aria-label="The lines of a transcript"
          spellCheck={false}
          className="mono"
        />
        <div className="row">
          <button type="submit">Show</button>
          <span className="bad" role="alert">
            {trouble}
          </span>
        </div>
      </form>
    </main>
  )
}

const root = document.getElementById('root')
if (root)
  createRoot(root).render(
    <StrictMode>
      <Playground />
    </StrictMode>,
  )

// The frame around every view.
import { useEffect, useState } from 'react'
import { type Address, go, useAddress } from './address.ts'
import { CompactionView } from './compaction/view.tsx'
import { visible } from './format.ts'
import { Overview } from './overview/view.tsx'
import { Link } from './parts/link.tsx'
import { SessionView } from './session/view.tsx'
import type { Source } from './source.ts'
import { SourceProvider } from './use-data.ts'

export type AppProps = {
  readonly source: Source
  /** Of the person who shares an exported session. */
  readonly comment?: string | null
}

export function App({ source, comment = null }: AppProps) {
  const address = useAddress()
  useEffect(() => {
    // Links within the page change the address without loading it again.
    const follow = (event: MouseEvent) => {
      const link = event.target instanceof Element ? event.target.closest('a[data-link]') : null
      const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey
      if (!(link instanceof HTMLAnchorElement) || !isPlain || event.defaultPrevented) return
      event.preventDefault()
      go(link.dataset.link ?? '/')
    }
    document.addEventListener('click', follow)
    return () => document.removeEventListener('click', follow)
  }, [])
  return (
    <SourceProvider value={source}>
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <header className="top">
        <Link to="/" className="name">
          Everlong
        </Link>
        <nav aria-label="Place" id="place" />
        <ThemeButton />
      </header>
      <main id="main" tabIndex={-1}>
        {comment === null ? null : <p className="card body quote">{visible(comment)}</p>}
        <Shown address={address} only={source.only} />
      </main>
    </SourceProvider>
  )
}

type ShownProps = { readonly address: Address; readonly only: string | undefined }

function Shown({ address: { view, query }, only }: ShownProps) {
  switch (view.name) {
    case 'overview':
      return only === undefined ? <Overview query={query} /> : <SessionView id={only} query={query} />
    case 'session':
      return <SessionView key={view.id} id={view.id} query={query} />
    case 'compaction':
      return <CompactionView key={`${view.id} ${view.number}`} id={view.id} number={view.number} query={query} />
  }
}

const themes: readonly string[] = ['system', 'light', 'dark']

function ThemeButton() {
  const [theme, setTheme] = useState(() => localStorage.getItem('everlong-theme') ?? 'system')
  useEffect(() => {
    if (theme === 'system') delete document.documentElement.dataset.theme
    else document.documentElement.dataset.theme = theme
    localStorage.setItem('everlong-theme', theme)
  }, [theme])
  const next = themes[(themes.indexOf(theme) + 1) % themes.length] ?? 'system'
  return (
    <button type="button" onClick={() => setTheme(next)} title={`Switch to ${next}`} aria-label={`Theme: ${theme}`}>
      <span className="theme-word">Theme: </span>
      {theme}
    </button>
  )
}

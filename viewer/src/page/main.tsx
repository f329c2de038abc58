// The page of `everlong view`: takes the token from the address, once, and shows the view that the address names.
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App } from './app.tsx'
import { httpSource } from './source.ts'
import './style.css'

const kept = 'everlong-token'

/** The token stays in this origin's storage, for further tabs, and leaves the address so that nobody copies it with a link. */
function tokenOf(): string {
  const [, given] = /^#token=([\w-]+)$/.exec(location.hash) ?? []
  if (given !== undefined) {
    localStorage.setItem(kept, given)
    history.replaceState(null, '', `${location.pathname}${location.search}`)
  }
  return given ?? localStorage.getItem(kept) ?? ''
}

const root = document.getElementById('root')
if (root)
  createRoot(root).render(
    <StrictMode>
      <App source={httpSource(tokenOf())} />
    </StrictMode>,
  )

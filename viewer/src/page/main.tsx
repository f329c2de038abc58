// The page of `everlong view`: takes the token from the address, once, and shows the view that the address names. In an exported file
// the data is in the file.
import { StrictMode, useState } from 'react'
import { createRoot } from 'react-dom/client'
import type { ExportData } from '../data/api.ts'
import { App } from './app.tsx'
import { fileSource } from './file-source.ts'
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
const exported = document.getElementById('data')?.textContent
if (root)
  createRoot(root).render(
    <StrictMode>{exported ? <Exported json={exported} /> : <App source={httpSource(tokenOf())} />}</StrictMode>,
  )

function Exported({ json }: { readonly json: string }) {
  const [data] = useState(() => JSON.parse(json) as ExportData)
  const [source] = useState(() => fileSource(data))
  return <App source={source} comment={data.comment} />
}

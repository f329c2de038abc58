// Where the person is, shown in the bar at the top and in the title of the tab.
import { type ReactNode, useEffect, useState } from 'react'
import { createPortal } from 'react-dom'

export function Place({ children }: { readonly children: ReactNode }) {
  const [bar, setBar] = useState<HTMLElement | null>(null)
  useEffect(() => setBar(document.getElementById('place')), [])
  useEffect(() => {
    document.title = `${bar?.textContent?.slice(0, 60) || 'Sessions'} – Everlong`
  })
  return bar
    ? createPortal(
        <>
          <span className="soft" aria-hidden="true">
            /
          </span>
          {children}
        </>,
        bar,
      )
    : null
}

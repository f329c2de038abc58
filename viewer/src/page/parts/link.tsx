// Links within the page.
import type { ReactNode } from 'react'
import { href, linkTo } from '../address.ts'

type LinkProps = {
  readonly to: string
  readonly className?: string
  readonly title?: string
  readonly children: ReactNode
  readonly 'aria-label'?: string
}

/** `to` is a link within the page, made with linkTo(). Text of transcripts never becomes an address. */
export function Link({ to, children, ...rest }: LinkProps) {
  return (
    <a href={href(to)} data-link={to} {...rest}>
      {children}
    </a>
  )
}

export function sessionLink(id: string, query?: Parameters<typeof linkTo>[1]): string {
  return linkTo({ name: 'session', id }, query)
}

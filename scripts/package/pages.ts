// Links between pages of documentation, in the checkout and in a package.
import { dirname, join, relative } from 'node:path/posix'

/** A link, or an image with its exclamation mark. */
const linkPattern = /(!?)\[([^\]]*)\]\(([^)\s]+)\)/g

export type Link = {
  /** As written in the page. */
  readonly target: string
  /** From the root of the checkout or the package. */
  readonly path: string
  /** The place on that page; undefined for the whole. */
  readonly anchor: string | undefined
}

/** The links of a page to other files, and to places on itself; web addresses are left out. */
export function linksIn(text: string, page: string): readonly Link[] {
  return [...text.matchAll(linkPattern)].flatMap(([, , , target = '']) => linkOf(target, page) ?? [])
}

/** Where a page lies in the checkout and in the package. Other files have the same path in both. */
export type Move = { readonly from: string; readonly to: string }

/** The page as it goes into the package. Links to files that the package does not contain become plain text. */
export function packagedPage(text: string, { from, to }: Move, has: (path: string) => boolean): string {
  return text.replace(linkPattern, (whole, mark: string, label: string, target: string) => {
    const link = linkOf(target, from)
    if (link === undefined || link.path === from) return whole
    if (!has(link.path)) return label
    const anchor = link.anchor === undefined ? '' : `#${link.anchor}`
    return `${mark}[${label}](${relative(dirname(to), link.path)}${anchor})`
  })
}

/** The anchors of a page: its headings, as GitHub and npm name them. */
export function anchorsIn(text: string): ReadonlySet<string> {
  const withoutCode = text.replace(/^```[\s\S]*?^```/gm, '')
  const headings = [...withoutCode.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => heading)
  return new Set(headings.map(anchorOf))
}

function anchorOf(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .replace(/\s/g, '-')
}

function linkOf(target: string, page: string): Link | undefined {
  if (/^[a-z]+:/.test(target)) return undefined
  const [file = '', anchor] = target.split('#')
  return { target, path: file === '' ? page : join(dirname(page), file).replace(/\/$/, ''), anchor }
}

// Documentation as it goes into a package: links to files that the package does not contain become plain text.
import { dirname, join } from 'node:path/posix'

const link = /\[([^\]]*)\]\(([^)\s]+)\)/g

/** `path` is where the page lies in the package, `has` says which paths the package contains. */
export function packagedPage(text: string, path: string, has: (path: string) => boolean): string {
  return text.replace(link, (whole, label: string, target: string) => {
    const linked = linkedPath(target, path)
    return linked === undefined || has(linked) ? whole : label
  })
}

/** Links to files that are not there. */
export function brokenLinks(text: string, path: string, has: (path: string) => boolean): readonly string[] {
  return [...text.matchAll(link)].flatMap(([, , target = '']) => {
    const linked = linkedPath(target, path)
    return linked === undefined || has(linked) ? [] : [`${path}: ${target}`]
  })
}

/** Undefined for a web address and for a place on the same page. */
function linkedPath(target: string, page: string): string | undefined {
  const [file = ''] = target.split('#')
  return file === '' || /^[a-z]+:/.test(file) ? undefined : join(dirname(page), file).replace(/\/$/, '')
}

// One name for one file: agents spell the same path in several ways.

/** Two spellings of a path below the root have the same key. */
export function pathKey(path: string, root: string | undefined): string {
  const plain = path.replace(/^(?:\.\/)+/, '')
  if (root === undefined || root === '') return plain
  const folder = root.endsWith('/') || root.endsWith('\\') ? root : `${root}${root.includes('\\') ? '\\' : '/'}`
  return plain.startsWith(folder) ? plain.slice(folder.length) : plain
}

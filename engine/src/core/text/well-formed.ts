// Well-formed Unicode: the API refuses lone surrogates. Well-formed values are returned unchanged, without copying.

/** Replaces lone surrogates with U+FFFD. */
export function wellFormed(text: string): string {
  return text.isWellFormed() ? text : text.toWellFormed()
}

/** The same for every string and key in a JSON value; of two keys that become equal the last one stays. */
export function wellFormedValue<T>(value: T): T
export function wellFormedValue(value: unknown): unknown {
  if (isFine(value, 0)) return value
  return isNode(value) ? repaired(value) : wellFormed(String(value))
}

type Node = Readonly<Record<string, unknown>> | readonly unknown[]

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null
}

/** Deeper values and rings are left to the repair, which does not recurse: tool input may be deeper than the stack. */
const deepest = 50

/** By plain loops: this reads every block of a conversation before each request. */
function isFine(value: unknown, depth: number): boolean {
  if (typeof value === 'string') return value.isWellFormed()
  if (!isNode(value)) return true
  if (depth === deepest) return false
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) if (!isFine(value[at], depth + 1)) return false
    return true
  }
  const node = value as Readonly<Record<string, unknown>>
  for (const key in node) if (!key.isWellFormed() || !isFine(node[key], depth + 1)) return false
  return true
}

/** Children before parents. */
function repaired(root: Node): Node {
  const done = new Map<Node, Node>()
  const begun = new Set<Node>()
  const open: Node[] = [root]
  for (let node = open.at(-1); node !== undefined; node = open.at(-1)) {
    if (!begun.has(node)) {
      begun.add(node)
      for (const value of Object.values(node)) if (isNode(value) && !begun.has(value)) open.push(value)
      continue
    }
    open.pop()
    if (!done.has(node)) done.set(node, copyOf(node, done))
  }
  return done.get(root) ?? root
}

/** The same object if nothing changed. */
function copyOf(node: Node, done: ReadonlyMap<Node, Node>): Node {
  const now = (value: unknown) =>
    typeof value === 'string' ? wellFormed(value) : isNode(value) ? (done.get(value) ?? value) : value
  if (Array.isArray(node)) {
    const items = node.map(now)
    return items.every((item, at) => item === node[at]) ? node : items
  }
  const entries = Object.entries(node)
  const isSame = entries.every(([key, value]) => key.isWellFormed() && now(value) === value)
  return isSame ? node : Object.fromEntries(entries.map(([key, value]) => [wellFormed(key), now(value)]))
}

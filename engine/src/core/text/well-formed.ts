// Well-formed Unicode: the API refuses lone surrogates. Well-formed values are returned unchanged, without copying.

/** Replaces lone surrogates with U+FFFD. */
export function wellFormed(text: string): string {
  return text.isWellFormed() ? text : text.toWellFormed()
}

/**
 * The same for every string and key in a JSON value; of two keys that become equal the last one stays. Iterative: tool
 * input may be nested deeper than the stack.
 */
export function wellFormedValue<T>(value: T): T
export function wellFormedValue(value: unknown): unknown {
  if (typeof value === 'string') return wellFormed(value)
  return isNode(value) && !isFine(value) ? repaired(value) : value
}

type Node = Readonly<Record<string, unknown>> | readonly unknown[]

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null
}

/** Deeper values, and rings, are looked at without recursion. */
const deepest = 50

/** By plain loops: this reads every block of a conversation before each request. */
function isFine(node: Node, depth = 0): boolean {
  if (depth === deepest) return isFineThroughout(node)
  if (isList(node)) {
    for (let at = 0; at < node.length; at++) if (!isFineValue(node[at], depth)) return false
    return true
  }
  for (const key in node) if (!key.isWellFormed() || !isFineValue(node[key], depth)) return false
  return true
}

function isFineValue(value: unknown, depth: number): boolean {
  if (typeof value === 'string') return value.isWellFormed()
  return !isNode(value) || isFine(value, depth + 1)
}

function isList(node: Node): node is readonly unknown[] {
  return Array.isArray(node)
}

function isFineThroughout(root: Node): boolean {
  const seen = new Set<Node>([root])
  for (const node of seen) {
    for (const [key, value] of Object.entries(node)) {
      if (!isList(node) && !key.isWellFormed()) return false
      if (typeof value === 'string' && !value.isWellFormed()) return false
      // Iteration includes what is added meanwhile.
      if (isNode(value)) seen.add(value)
    }
  }
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

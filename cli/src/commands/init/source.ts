// A source file for `everlong init`: its imports, its calls, and edits of its text. Does not touch the disk.
import { type ParserPlugin, parse } from '@babel/parser'

/** The part of a node of Babel's syntax tree that is used here. */
export type Node = {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly loc: { readonly start: { readonly line: number; readonly column: number } }
  readonly [field: string]: unknown
}

export type Source = {
  readonly text: string
  readonly program: Node
  readonly imports: readonly ImportedName[]
  /** The import statements, in order. */
  readonly importStatements: readonly Node[]
}

export type ImportedName = {
  readonly from: string
  /** `default` for a default import. */
  readonly name: string
  readonly local: string
  readonly statement: Node
}

/** A call or `new` expression. */
export type CallSite = { readonly node: Node; readonly name: string; readonly line: number }

/** Replaces the text between two positions. Equal positions insert. */
export type Edit = { readonly start: number; readonly end: number; readonly text: string }

/** Undefined if the text has a syntax error. */
export function parseSource(path: string, text: string): Source | undefined {
  const program = programOf(path, text)
  if (!program) return undefined
  const importStatements = nodesIn(program.body).filter(
    ({ type, importKind }) => type === 'ImportDeclaration' && importKind !== 'type',
  )
  return { text, program, importStatements, imports: importStatements.flatMap(namesOf) }
}

function programOf(path: string, text: string): Node | undefined {
  const plugins: ParserPlugin[] = [
    ...(/\.[cm]?tsx?$/.test(path) ? (['typescript'] as const) : []),
    ...(/\.([cm]?js|jsx|tsx)$/.test(path) ? (['jsx'] as const) : []),
    'decorators',
  ]
  try {
    return parse(text, { sourceType: 'module', plugins }).program as unknown as Node
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function namesOf(statement: Node): readonly ImportedName[] {
  const from = String((statement.source as Node).value)
  return nodesIn(statement.specifiers).flatMap((specifier) => {
    const local = nameOf(specifier.local)
    if (specifier.type === 'ImportDefaultSpecifier') return [{ from, name: 'default', local, statement }]
    if (specifier.type !== 'ImportSpecifier' || specifier.importKind === 'type') return []
    return [{ from, name: nameOf(specifier.imported), local, statement }]
  })
}

/** The name of an identifier, or the value of a string; else empty. */
export function nameOf(node: unknown): string {
  const { name, value } = (node ?? {}) as { name?: unknown; value?: unknown }
  if (typeof name === 'string') return name
  return typeof value === 'string' ? value : ''
}

/** The calls of these imported names, in the order of the text. */
export function callsOf(
  source: Source,
  imported: { readonly from: readonly string[]; readonly names: readonly string[] },
) {
  const names = new Map(
    source.imports
      .filter(({ from, name }) => imported.from.includes(from) && imported.names.includes(name))
      .map(({ local, name }) => [local, name]),
  )
  const calls: CallSite[] = []
  walk(source.program, (node) => {
    if (node.type !== 'CallExpression' && node.type !== 'NewExpression') return
    const name = names.get(nameOf(node.callee))
    if (name !== undefined) calls.push({ node, name, line: node.loc.start.line })
  })
  return calls
}

/** The value that a `const` of this file was given; undefined if there is no such `const`, or several. */
export function constantIn(source: Source, name: string): Node | undefined {
  const values: Node[] = []
  walk(source.program, (node) => {
    if (node.type !== 'VariableDeclarator' || nameOf(node.id) !== name) return
    if (isNode(node.init)) values.push(node.init)
  })
  return values.length === 1 ? values[0] : undefined
}

/** The properties of a call's first argument; `none` without an argument, `unknown` if it is not a plain object. */
export function optionsOf({
  node,
}: CallSite): { readonly node: Node; readonly properties: readonly Node[] } | 'none' | 'unknown' {
  const [first] = nodesIn(node.arguments)
  if (!first) return 'none'
  if (first.type !== 'ObjectExpression') return 'unknown'
  const properties = nodesIn(first.properties)
  // A spread object could contain the same option.
  const isPlain = properties.every(({ type, computed }) => type !== 'SpreadElement' && computed !== true)
  return isPlain ? { node: first, properties } : 'unknown'
}

export function propertyOf(properties: readonly Node[], key: string): Node | undefined {
  return properties.find((property) => nameOf(property.key) === key)
}

export function applyEdits(text: string, edits: readonly Edit[]): string {
  return edits
    .toSorted((one, other) => other.start - one.start)
    .reduce((now, edit) => now.slice(0, edit.start) + edit.text + now.slice(edit.end), text)
}

export function textOf(source: Source, { start, end }: Node): string {
  return source.text.slice(start, end)
}

export function nodesIn(value: unknown): readonly Node[] {
  return Array.isArray(value) ? value.filter(isNode) : []
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as Node).type === 'string'
}

function walk(node: Node, visit: (node: Node) => void): void {
  visit(node)
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) walk(child, visit)
  }
}

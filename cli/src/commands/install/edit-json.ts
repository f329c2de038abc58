// Adds one value to a JSON text, and takes it out again. Comments, order and formatting of everything else stay byte for byte.
import { createScanner, getNodeValue, type Node, type ParseError, parseTree } from 'jsonc-parser'
import { isSameValue } from './same-value.ts'

export type JsonEdit = {
  /** Where the object or list is that gets the value. */
  readonly at: readonly string[]
  /** The name of the value in an object; left out for an element of a list. */
  readonly key?: string
  readonly value: unknown
}

/** What taking the value out needs to know. */
export type JsonMark = {
  /** How many of the containers in `at` existed before. */
  readonly existing: number
  /** Space behind the value that came with it. */
  readonly tail: string
}

export type JsonAdded =
  | { readonly type: 'added'; readonly text: string; readonly mark: JsonMark }
  /** The same value is there already, and it is not ours. */
  | { readonly type: 'present' }
  | JsonProblem

export type JsonRemoved = { readonly type: 'removed' | 'gone'; readonly text: string } | JsonProblem

export type JsonProblem = { readonly type: 'problem'; readonly why: string }

// The kinds of tokens that matter here; jsonc-parser declares them as a const enum, which Node cannot read.
const comma = 5
const lineComment = 12
const blockComment = 13
const lineBreak = 14
const space = 15

export function addToJson(text: string, edit: JsonEdit): JsonAdded {
  const root = treeOf(text)
  if (typeof root === 'string') return problem(root)
  const found = containerOf(root, edit.at)
  if (typeof found === 'string') return problem(found)
  const { node, depth } = found
  const rest = edit.at.slice(depth)
  if (rest.length === 0) {
    const existing = memberOf(node, edit)
    if (existing === 'twice') return problem(`${placeName(edit)} is defined twice`)
    if (existing && isSameValue(contentOf(existing), edit.value)) return { type: 'present' }
    if (existing) return problem(`${placeName(edit)} has another value already`)
  }
  if (rest.length === 0 && (node.type === 'array') !== (edit.key === undefined)) {
    return problem(`${placeName(edit)} is not ${edit.key === undefined ? 'a list' : 'in an object'}`)
  }
  const inserted = insert(text, node, memberText(rest, edit))
  const mark = { existing: depth, tail: inserted.tail }
  const undone = removeFromJson(inserted.text, edit, mark)
  // A layout that nobody thought of: better no edit than one that cannot be taken back.
  if (undone.type !== 'removed' || undone.text !== text) return problem('it is laid out in a way that cannot be edited')
  return { type: 'added', text: inserted.text, mark }
}

export function removeFromJson(text: string, edit: JsonEdit, mark: JsonMark): JsonRemoved {
  const root = treeOf(text)
  if (typeof root === 'string') return problem(root)
  const chain = chainTo(root, edit)
  if (typeof chain === 'string') return problem(chain)
  const member = chain.at(-1)
  if (!member) return { type: 'gone', text }
  if (!isSameValue(contentOf(member), edit.value)) return problem(`${placeName(edit)} was changed`)
  // Containers that came with the value go with it, unless something else was put into them.
  let last = chain.length - 1
  while (last > mark.existing && chain[last]?.parent?.children?.length === 1) last--
  const outermost = chain[last]
  return { type: 'removed', text: outermost ? cutOut(text, outermost, mark) : text }
}

/** A JSON text that holds nothing but the value. */
export function newJson({ at, key, value }: JsonEdit): string {
  const inner = key === undefined ? [value] : { [key]: value }
  const whole = at.toReversed().reduce<unknown>((content, name) => ({ [name]: content }), inner)
  return `${JSON.stringify(whole, null, 2)}\n`
}

export function isEmptyJson(text: string): boolean {
  return /^\s*\{\s*\}\s*$/.test(text)
}

function problem(why: string): JsonProblem {
  return { type: 'problem', why }
}

/** The root object, or why there is none. */
function treeOf(text: string): Node | string {
  const errors: ParseError[] = []
  // A byte order mark is not part of the JSON; a space keeps all offsets.
  const root = parseTree(text.replace(/^\ufeff/, ' '), errors, { allowTrailingComma: true })
  const [first] = errors
  if (first) return `it is not valid JSON (line ${text.slice(0, first.offset).split('\n').length})`
  return root?.type === 'object' ? root : 'it does not hold a JSON object'
}

/** The deepest container on the way that exists, and how deep it is. */
function containerOf(root: Node, at: readonly string[]): { readonly node: Node; readonly depth: number } | string {
  let node = root
  for (const [depth, name] of at.entries()) {
    const members = propertiesOf(node, name)
    const [member] = members
    if (members.length > 1) return `${at.slice(0, depth + 1).join('.')} is defined twice`
    if (!member) return { node, depth }
    const value = member.children?.[1]
    const isLast = depth === at.length - 1
    if (value?.type !== 'object' && !(isLast && value?.type === 'array')) {
      return `${at.slice(0, depth + 1).join('.')} is not ${isLast ? 'an object or a list' : 'an object'}`
    }
    node = value
  }
  return { node, depth: at.length }
}

/** The members on the way to the value, outermost first; empty if the value is not there. */
function chainTo(root: Node, edit: JsonEdit): readonly Node[] | string {
  const chain: Node[] = []
  let node = root
  for (const name of edit.at) {
    const members = propertiesOf(node, name)
    const [member] = members
    const value = member?.children?.[1]
    if (members.length > 1) return `${name} is defined twice`
    if (!member || !value) return []
    chain.push(member)
    node = value
  }
  const member = memberOf(node, edit)
  if (member === 'twice') return `${placeName(edit)} is defined twice`
  return member ? [...chain, member] : []
}

function memberOf(node: Node, { key, value }: JsonEdit): Node | 'twice' | undefined {
  if (key === undefined) return node.children?.findLast((child) => isSameValue(getNodeValue(child), value))
  const members = propertiesOf(node, key)
  return members.length > 1 ? 'twice' : members[0]
}

function propertiesOf(node: Node, name: string): readonly Node[] {
  if (node.type !== 'object') return []
  return node.children?.filter((member) => member.children?.[0]?.value === name) ?? []
}

function contentOf(member: Node): unknown {
  const value = member.type === 'property' ? member.children?.[1] : member
  return value && getNodeValue(value)
}

function placeName({ at, key }: JsonEdit): string {
  return [...at, ...(key === undefined ? [] : [key])].join('.')
}

type Member = { readonly key?: string; readonly value: unknown }

function memberText(rest: readonly string[], { key, value }: JsonEdit): Member {
  const [first, ...others] = rest
  if (first === undefined) return { ...(key === undefined ? {} : { key }), value }
  const inner = key === undefined ? [value] : { [key]: value }
  return { key: first, value: others.toReversed().reduce<unknown>((content, name) => ({ [name]: content }), inner) }
}

function insert(
  text: string,
  container: Node,
  { key, value }: Member,
): { readonly text: string; readonly tail: string } {
  const layout = layoutOf(text, container)
  const { anchor, hasTrailingComma } = anchorIn(text, container)
  const json = JSON.stringify(value, null, layout.isInline ? undefined : layout.unit)
  const body = `${key === undefined ? '' : `${JSON.stringify(key)}: `}${json.replaceAll('\n', layout.lead)}`
  const piece = `${layout.lead}${body}${hasTrailingComma ? ',' : ''}${layout.tail}`
  const previous = container.children?.at(-1)
  const withPiece = text.slice(0, anchor) + piece + text.slice(anchor)
  if (!previous || hasTrailingComma) return { text: withPiece, tail: layout.tail }
  const end = previous.offset + previous.length
  return { text: `${withPiece.slice(0, end)},${withPiece.slice(end)}`, tail: layout.tail }
}

/** How the members of a container are written: what goes before a new one and behind it. */
function layoutOf(text: string, container: Node) {
  const inner = text.slice(container.offset + 1, container.offset + container.length - 1)
  const eol = text.includes('\r\n') ? '\r\n' : '\n'
  const unit = /^[ \t]+(?=["[{\]}/])/m.exec(text)?.[0] ?? '  '
  const own = indentAt(text, container.offset)
  const [first] = container.children ?? []
  const isOnePerLine = inner.includes('\n') || (!first && inner === '' && (text.includes('\n') || !container.parent))
  const isTight = /[:,][^\s:,]/.test(inner)
  if (!isOnePerLine) return { isInline: true, lead: isTight ? '' : ' ', tail: '', unit }
  const indent = first && isFirstOnLine(text, first.offset) ? indentAt(text, first.offset) : own + unit
  const tail = inner === '' ? eol + own : ''
  return { isInline: false, lead: eol + indent, tail, unit: indent.startsWith(own) ? indent.slice(own.length) : unit }
}

function indentAt(text: string, offset: number): string {
  const start = text.lastIndexOf('\n', offset - 1) + 1
  return /^[ \t]*/.exec(text.slice(start, offset))?.[0] ?? ''
}

function isFirstOnLine(text: string, offset: number): boolean {
  return text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset).trim() === ''
}

/** Behind the last member, its comma, and a comment on the same line. */
function anchorIn(text: string, container: Node): { readonly anchor: number; readonly hasTrailingComma: boolean } {
  const previous = container.children?.at(-1)
  let anchor = previous ? previous.offset + previous.length : container.offset + 1
  const commaEnd = previous && commaAfter(text, anchor)
  anchor = commaEnd ?? anchor
  const scanner = createScanner(text)
  scanner.setPosition(anchor)
  for (let kind: number = scanner.scan(); ; kind = scanner.scan()) {
    if (kind === lineComment || kind === blockComment) anchor = scanner.getPosition()
    else if (kind !== space) return { anchor, hasTrailingComma: commaEnd !== undefined }
  }
}

/** Where the comma ends that follows, if only space and comments come before it. */
function commaAfter(text: string, offset: number): number | undefined {
  const scanner = createScanner(text)
  scanner.setPosition(offset)
  for (let kind: number = scanner.scan(); ; kind = scanner.scan()) {
    if (kind === comma) return scanner.getPosition()
    if (![space, lineBreak, lineComment, blockComment].includes(kind)) return undefined
  }
}

/** Takes a member out, with the space before it and the comma that came with it. */
function cutOut(text: string, member: Node, { tail }: JsonMark): string {
  const siblings = member.parent?.children ?? []
  const previous = siblings[siblings.indexOf(member) - 1]
  const before = text.slice(0, member.offset).trimEnd()
  const end = member.offset + member.length
  const nextComma = commaAfter(text, end)
  if (nextComma !== undefined) return before + text.slice(end, nextComma - 1) + text.slice(nextComma)
  const rest = text.slice(end)
  if (!previous) return before + (rest.startsWith(tail) ? rest.slice(tail.length) : rest)
  const commaEnd = commaAfter(text, previous.offset + previous.length) ?? 0
  return before.slice(0, commaEnd - 1) + before.slice(commaEnd) + rest
}
